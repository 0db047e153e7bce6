// SPDX-License-Identifier: BSD-3-Clause
// What gputest believes of NVIDIA's driver, checked on a real GPU. Every claim runs in a process of its own: a context,
// a sticky error and CUDA_VISIBLE_DEVICES are for the life of a process.
#include "core/devices/cuda/cuda_driver.hpp"
#include "real_device.hpp"

#include <cuda_runtime.h>

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

namespace gputest::devices {
namespace {

using namespace tests; // NOLINT(google-build-using-namespace): what all of these tests share

void* current_context() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  require(library != nullptr, "the CUDA runtime has loaded libcuda.so.1");
  const auto get = reinterpret_cast<int (*)(void**)>(dlsym(library, "cuCtxGetCurrent"));
  void* context = nullptr;
  require(get != nullptr && get(&context) == 0, "the driver tells the current context");
  dlclose(library);
  return context;
}

__global__ void write_to(int* where) { *where = 1; }

CLAIM(RealDeviceDeathTest, nvml_makes_no_context) {
  View view;
  require(view.own_bytes() == 0, "this process is not listed after NVML was opened");
  require(!cuda_is_initialised(), "CUDA is not initialised by NVML");
  require(!cuda_process().synchronize_and_trim().has_context, "nothing to settle before CUDA is used");
  require(view.own_bytes() == 0, "settling made no context");
}

CLAIM(RealDeviceDeathTest, loaded_is_not_initialised) {
  View view;
  require(dlopen("libcuda.so.1", RTLD_NOW) != nullptr, "libcuda.so.1 can be loaded");
  require(!cuda_is_initialised(), "CUDA is not initialised by loading it");
  require(!cuda_process().synchronize_and_trim().has_context, "nothing to settle before cuInit()");
  require(view.own_bytes() == 0, "this process is not listed");
}

CLAIM(RealDeviceDeathTest, initialised_is_not_used) {
  View view;
  int count = 0;
  check(cudaGetDeviceCount(&count));
  require(cuda_is_initialised(), "CUDA is initialised by counting the devices");
  require(!cuda_process().synchronize_and_trim().has_context, "no context, so nothing to settle");
  require(view.own_bytes() == 0, "settling made no context");
}

CLAIM(RealDeviceDeathTest, a_context_is_listed_with_its_bytes) {
  View view;
  view.use_device_0();
  const auto context_bytes = view.own_bytes();
  require(context_bytes >= 64 * mib, "the context is listed with " + std::to_string(context_bytes) + " bytes");
  require(cuda_is_initialised() && cuda_process().synchronize_and_trim().has_context, "this process uses CUDA");
  void* memory = nullptr;
  check(cudaMalloc(&memory, gib));
  require(about(view.own_bytes(), context_bytes + gib), "1 GiB more is listed");
  check(cudaFree(memory));
  require(about(view.own_bytes(), context_bytes), "and is listed no more when it is freed");
}

CLAIM(RealDeviceDeathTest, figures_are_those_of_cuda) {
  View view;
  view.use_device_0();
  std::size_t cuda_free = 0;
  std::size_t cuda_total = 0;
  check(cudaMemGetInfo(&cuda_free, &cuda_total));
  const auto usable = view.device().total.count() - view.reserved();
  require(about(usable - view.used(), cuda_free),
          "free: NVML " + std::to_string(usable - view.used()) + ", CUDA " + std::to_string(cuda_free));
  require(about(usable, cuda_total),
          "total: NVML without the reserved " + std::to_string(usable) + ", CUDA " + std::to_string(cuda_total));
}

/// Leaves 1 GiB unused in `pool`, as frameworks do that raise the release threshold.
void fill(cudaMemPool_t pool) {
  std::uint64_t never = UINT64_MAX;
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &never));
  void* memory = nullptr;
  check(cudaMallocFromPoolAsync(&memory, gib, pool, nullptr));
  check(cudaFreeAsync(memory, nullptr));
  check(cudaDeviceSynchronize());
}

void settle_returns(View& view, std::uint64_t before) {
  require(view.used() >= before + gib - slack_bytes, "1 GiB stays with the process until it is settled");
  const auto settled = cuda_process().synchronize_and_trim();
  require(settled.has_context && settled.error.empty(), "settled without an error, not with " + settled.error);
  require(about(view.used(), before),
          "the 1 GiB is back: " + std::to_string(before) + " bytes before, " + std::to_string(view.used()) + " now");
}

CLAIM(RealDeviceDeathTest, synchronizing_returns_the_default_pool) {
  View view;
  view.use_device_0();
  const auto before = view.used();
  cudaMemPool_t pool = nullptr;
  check(cudaDeviceGetDefaultMemPool(&pool, 0));
  fill(pool);
  settle_returns(view, before);
}

CLAIM(RealDeviceDeathTest, synchronizing_returns_the_current_pool) {
  View view;
  view.use_device_0();
  const auto before = view.used();
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t pool = nullptr;
  check(cudaMemPoolCreate(&pool, &properties));
  check(cudaDeviceSetMemPool(0, pool));
  fill(pool);
  settle_returns(view, before);
}

CLAIM(RealDeviceDeathTest, synchronizing_returns_the_memory_of_graphs) {
  View view;
  view.use_device_0();
  const auto before = view.used();
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream));
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  void* memory = nullptr;
  check(cudaMallocAsync(&memory, gib, stream));
  check(cudaMemsetAsync(memory, 0, gib, stream));
  check(cudaFreeAsync(memory, stream));
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t executable = nullptr;
  check(cudaGraphInstantiateWithFlags(&executable, graph, 0));
  check(cudaGraphLaunch(executable, stream));
  check(cudaStreamSynchronize(stream));
  check(cudaGraphExecDestroy(executable));
  check(cudaGraphDestroy(graph));
  settle_returns(view, before);
}

CLAIM(RealDeviceDeathTest, synchronizing_waits_for_the_work) {
  View view;
  view.use_device_0();
  void* memory = nullptr;
  check(cudaMalloc(&memory, 8 * gib));
  for (int i = 0; i < 64; ++i) {
    check(cudaMemsetAsync(memory, i, 8 * gib, nullptr));
  }
  require(cudaStreamQuery(nullptr) == cudaErrorNotReady, "the work is under way");
  require(cuda_process().synchronize_and_trim().error.empty(), "no error");
  require(cudaStreamQuery(nullptr) == cudaSuccess, "the work is done");
}

CLAIM(RealDeviceDeathTest, synchronizing_names_a_sticky_error) {
  check(cudaFree(nullptr));
  void* const context = current_context();
  write_to<<<1, 1>>>(nullptr);
  for (int time = 0; time < 2; ++time) {
    const auto settled = cuda_process().synchronize_and_trim();
    require(settled.has_context, "this process uses CUDA");
    require(settled.error == "CUDA_ERROR_ILLEGAL_ADDRESS (700)", "the error is 700, not " + settled.error);
  }
  require(current_context() == context, "the current context is the same");
}

CLAIM(RealDeviceDeathTest, synchronizing_leaves_other_errors_alone) {
  check(cudaFree(nullptr));
  void* memory = nullptr;
  require(cudaMalloc(&memory, SIZE_MAX / 2) == cudaErrorMemoryAllocation, "too much is refused");
  require(cuda_process().synchronize_and_trim().error.empty(), "out of memory is no sticky error");
  require(cudaGetLastError() == cudaErrorMemoryAllocation, "the test's own last error is still there");

  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream));
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  const auto settled = cuda_process().synchronize_and_trim();
  require(settled.error.empty(), "an open capture is no sticky error: " + settled.error);
}

CLAIM(RealDeviceDeathTest, synchronizing_leaves_the_current_context_alone) {
  check(cudaFree(nullptr));
  void* const context = current_context();
  require(cuda_process().synchronize_and_trim().has_context && current_context() == context,
          "the current context is the same");
  void* in_other_thread = context;
  std::thread{[&] {
    require(cuda_process().synchronize_and_trim().has_context, "settles from a thread without a context");
    in_other_thread = current_context();
  }}.join();
  require(in_other_thread == nullptr, "a thread without a context still has none");
}

CLAIM(RealDeviceDeathTest, pins_by_uuid_before_the_first_call) {
  const auto nvml = open_nvml();
  const auto uuid = nvml->devices().back().uuid;
  setenv("CUDA_VISIBLE_DEVICES", uuid.c_str(), 1);
  int count = 0;
  check(cudaGetDeviceCount(&count));
  require(count == 1, "one device is visible, not " + std::to_string(count));
  require(uuid_of_device(0) == uuid, "it is " + uuid + ", not " + uuid_of_device(0));
}

CLAIM(RealDeviceDeathTest, sees_no_device_when_pinned_to_one_that_is_not_there) {
  setenv("CUDA_VISIBLE_DEVICES", "GPU-00000000-0000-0000-0000-000000000000", 1);
  int count = 0;
  const auto error = cudaGetDeviceCount(&count);
  require(error == cudaErrorNoDevice, std::string{"no device, not "} + cudaGetErrorName(error));
}

CLAIM(RealDeviceDeathTest, synchronizes_nothing_in_a_forked_child) {
  check(cudaFree(nullptr));
  const auto child = fork();
  if (child == 0) {
    alarm(30); // a hang ends in SIGALRM
    _exit(cuda_process().synchronize_and_trim().has_context || cuda_is_initialised() ? 1 : 0);
  }
  int status = 0;
  require(waitpid(child, &status, 0) == child, "the child can be waited for");
  require(WIFEXITED(status), "the child ended by itself, not by signal " + std::to_string(WTERMSIG(status)));
  require(WEXITSTATUS(status) == 0, "CUDA is not in use in the child");
  require(cuda_process().synchronize_and_trim().error.empty(), "the parent is none the worse");
}

} // namespace
} // namespace gputest::devices
