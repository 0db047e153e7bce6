// SPDX-License-Identifier: BSD-3-Clause
// The meter against known allocations on a real GPU, to the byte, and what NVML shows of the same.
#include "real_device.hpp"

#include "core/os/shared_library.hpp"
#include "metering/cuda_meter.hpp"

#include <cuda.h>
#include <cuda_runtime.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>

namespace gputest::tests {
namespace {

using devices::AllocationKind;
using devices::Evidence;
using devices::Meter;
using devices::Usage;

void check_driver(CUresult result) {
  require(result == CUDA_SUCCESS, "a driver call answers " + std::to_string(result));
}

__global__ void use_heap() {
  void* memory = malloc(1U << 20U);
  free(memory);
}

std::unique_ptr<Meter> open_meter() {
  std::string why;
  auto meter = metering::open_cupti_meter("", why);
  require(meter != nullptr, why);
  return meter;
}

std::uint64_t peak_of(const Usage& usage) { return usage.devices.empty() ? 0 : usage.devices.front().peak.count(); }

std::uint64_t left_of(const Usage& usage) {
  std::uint64_t bytes = 0;
  for (const auto& device : usage.devices) {
    for (const auto& left : device.left) {
      bytes += left.bytes.count();
    }
  }
  return bytes;
}

/// The body allocates `peak` bytes of the device at most, and leaves `left`; prints a line of the table.
void expect_usage(const char* name, std::uint64_t peak, std::uint64_t left, const std::function<void()>& body) {
  const auto meter = open_meter();
  View view;
  view.use_device_0();
  const auto before = view.own_bytes();
  meter->begin();
  body();
  check(cudaDeviceSynchronize());
  const auto after = view.own_bytes();
  const auto usage = meter->end();
  std::printf("| %-32s | %11llu | %11llu | %11llu | %+7.1f |\n", name, static_cast<unsigned long long>(peak),
              static_cast<unsigned long long>(peak_of(usage)), static_cast<unsigned long long>(left_of(usage)),
              (static_cast<double>(after) - static_cast<double>(before)) / static_cast<double>(mib));
  std::fflush(stdout);
  require(usage.evidence == Evidence::exact, "the figures are exact");
  require(peak_of(usage) == peak, "the peak is " + std::to_string(peak) + ", not " + std::to_string(peak_of(usage)));
  require(left_of(usage) == left, "left is " + std::to_string(left) + ", not " + std::to_string(left_of(usage)));
}

using MeterDeathTest = RealDeviceDeathTest;

// A claim a process, as CUPTI has one subscriber in each.
#define GPUTEST_METER_CLAIM(name, peak, left, ...)                                                                     \
  TEST_F(MeterDeathTest, name) {                                                                                       \
    EXPECT_EXIT(run([] { expect_usage(#name, peak, left, __VA_ARGS__); }), ::testing::ExitedWithCode(0), "");          \
  }

GPUTEST_METER_CLAIM(cudaMalloc, 300 * mib + 1, 0, [] {
  void* memory = nullptr;
  check(cudaMalloc(&memory, 300 * mib + 1));
  check(cudaFree(memory));
})

GPUTEST_METER_CLAIM(several_at_once_and_one_after_another, 450 * mib, 100 * mib, [] {
  void* first = nullptr;
  void* second = nullptr;
  void* third = nullptr;
  check(cudaMalloc(&first, 300 * mib));
  check(cudaMallocAsync(&second, 100 * mib, nullptr));
  check(cudaMallocManaged(&third, 50 * mib));
  check(cudaFree(first));
  check(cudaFree(third));
  check(cudaMalloc(&first, 200 * mib));
  check(cudaFree(first));
})

GPUTEST_METER_CLAIM(cudaMallocAsync, 100 * mib, 0, [] {
  void* memory = nullptr;
  check(cudaMallocAsync(&memory, 100 * mib, nullptr));
  check(cudaFreeAsync(memory, nullptr));
})

GPUTEST_METER_CLAIM(pool_that_keeps_its_memory, 100 * mib, 0, [] {
  cudaMemPool_t pool = nullptr;
  check(cudaDeviceGetDefaultMemPool(&pool, 0));
  std::uint64_t all = UINT64_MAX;
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
  void* memory = nullptr;
  check(cudaMallocAsync(&memory, 100 * mib, nullptr));
  check(cudaFreeAsync(memory, nullptr));
})

GPUTEST_METER_CLAIM(pool_of_its_own, 40 * mib, 40 * mib, [] {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPool_t pool = nullptr;
  check(cudaMemPoolCreate(&pool, &properties));
  void* memory = nullptr;
  check(cudaMallocFromPoolAsync(&memory, 40 * mib, pool, nullptr));
})

// The driver's own mark for graphs counts in steps of 32 MiB.
GPUTEST_METER_CLAIM(graph, 32 * mib, 0, [] {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream));
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  void* memory = nullptr;
  check(cudaMallocAsync(&memory, 30 * mib, stream));
  check(cudaMemsetAsync(memory, 1, 30 * mib, stream));
  check(cudaFreeAsync(memory, stream));
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t executable = nullptr;
  check(cudaGraphInstantiate(&executable, graph, 0));
  check(cudaGraphLaunch(executable, stream));
  check(cudaStreamSynchronize(stream));
  check(cudaGraphExecDestroy(executable));
  check(cudaGraphDestroy(graph));
  check(cudaStreamDestroy(stream));
})

GPUTEST_METER_CLAIM(cudaMallocManaged, 50 * mib, 0, [] {
  void* memory = nullptr;
  check(cudaMallocManaged(&memory, 50 * mib));
  check(cudaMemset(memory, 1, 50 * mib));
  check(cudaFree(memory));
})

GPUTEST_METER_CLAIM(pitched, 512ULL * 1000, 0, [] {
  void* memory = nullptr;
  std::size_t pitch = 0;
  check(cudaMallocPitch(&memory, &pitch, 500, 1000));
  require(pitch == 512, "rows of 500 bytes have a pitch of 512");
  check(cudaFree(memory));
})

GPUTEST_METER_CLAIM(array, 1024ULL * 512 * 16, 0, [] {
  cudaArray_t array = nullptr;
  const auto format = cudaCreateChannelDesc<float4>();
  check(cudaMallocArray(&array, &format, 1024, 512));
  check(cudaFreeArray(array));
})

GPUTEST_METER_CLAIM(array_3d, 128ULL * 128 * 128 * 4, 0, [] {
  cudaArray_t array = nullptr;
  const auto format = cudaCreateChannelDesc<int>();
  check(cudaMalloc3DArray(&array, &format, make_cudaExtent(128, 128, 128)));
  check(cudaFreeArray(array));
})

GPUTEST_METER_CLAIM(mipmapped_array, 4 * mib + mib + mib / 4, 0, [] {
  cudaMipmappedArray_t array = nullptr;
  const auto format = cudaCreateChannelDesc<float>();
  check(cudaMallocMipmappedArray(&array, &format, make_cudaExtent(1024, 1024, 0), 3));
  check(cudaFreeMipmappedArray(array));
})

TEST_F(MeterDeathTest, asks_before_the_device_gives_the_memory) {
  EXPECT_EXIT(run([] {
                const auto meter = open_meter();
                View view;
                view.use_device_0();
                void* memory = nullptr;
                check(cudaMallocAsync(&memory, mib, nullptr)); // makes the pool
                meter->begin();
                const auto before = view.own_bytes();
                std::string asked;
                meter->ask_beyond({{Bytes{64 * mib}}, Bytes{~std::uint64_t{}}}, [&](const Usage& usage) {
                  check(cudaDeviceSynchronize());
                  asked += std::to_string(peak_of(usage) / mib) + (view.own_bytes() == before ? " " : " taken! ");
                });
                check(cudaMalloc(&memory, 64 * mib));
                check(cudaFree(memory));
                check(cudaMalloc(&memory, 101 * mib));
                check(cudaFree(memory));
                check(cudaMallocAsync(&memory, 102 * mib, nullptr));
                check(cudaFreeAsync(memory, nullptr));
                check(cudaDeviceSynchronize());
                check(cudaMallocManaged(&memory, 103 * mib));
                require(asked == "101 102 103 ", "asked: " + asked);
              }),
              ::testing::ExitedWithCode(0), "");
}

/// A function of the driver, which this executable does not link.
template <class Function>
Function* driver(const char* name) {
  std::string why;
  const auto library = os::SharedLibrary::open("libcuda.so.1", why);
  Function* function = nullptr;
  require(library && library->bind(function, name), std::string{"libcuda.so.1 has "} + name);
  return function;
}

void map_64_mib(bool unmap) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = 0;
  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr address = 0;
  check_driver(driver<decltype(cuMemCreate)>("cuMemCreate")(&handle, 64 * mib, &properties, 0));
  check_driver(driver<decltype(cuMemAddressReserve)>("cuMemAddressReserve")(&address, 64 * mib, 0, 0, 0));
  check_driver(driver<decltype(cuMemMap)>("cuMemMap")(address, 64 * mib, 0, handle, 0));
  check_driver(driver<decltype(cuMemRelease)>("cuMemRelease")(handle));
  if (unmap) {
    check_driver(driver<decltype(cuMemUnmap)>("cuMemUnmap")(address, 64 * mib));
    check_driver(driver<decltype(cuMemAddressFree)>("cuMemAddressFree")(address, 64 * mib));
  }
}

GPUTEST_METER_CLAIM(cuMemCreate, 64 * mib, 0, [] { map_64_mib(true); })
GPUTEST_METER_CLAIM(cuMemCreate_still_mapped, 64 * mib, 64 * mib, [] { map_64_mib(false); })

GPUTEST_METER_CLAIM(device_heap_is_not_counted, 0, 0, [] {
  check(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 256 * mib));
  use_heap<<<1, 32>>>();
})

GPUTEST_METER_CLAIM(cudaDeviceReset_frees, 5 * mib, 0, [] {
  void* memory = nullptr;
  check(cudaMalloc(&memory, 5 * mib));
  check(cudaDeviceReset());
})

CLAIM(MeterDeathTest, pinned_memory_of_the_host_is_not_counted) {
  const auto meter = open_meter();
  check(cudaFree(nullptr));
  meter->begin();
  void* first = nullptr;
  check(cudaMallocHost(&first, 20 * mib));
  require(meter->end().devices.empty(), "nothing of a device is counted");
}

CLAIM(MeterDeathTest, a_second_subscriber_is_told_why_it_has_none) {
  const auto meter = open_meter();
  std::string why;
  require(metering::open_cupti_meter("", why) == nullptr, "a process has one");
  require(why.find("another tool uses CUPTI") != std::string::npos, why);
}

} // namespace
} // namespace gputest::tests
