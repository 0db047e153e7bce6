// SPDX-License-Identifier: BSD-3-Clause
// Memory resources, the trim and the device heap on a real GPU. Every claim runs in a process of its own, since a heap
// and a context are for the life of a process. Prints what a heap costs as a table.
#include "core/devices/cuda/cuda_driver.hpp"
#include "core/policy/request.hpp"
#include "core/session/account.hpp"
#include "real_device.hpp"

#include <gputest/error.hpp>
#include <gputest/memory_resource.hpp>

#include <cuda_runtime.h>

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace gputest {
namespace {

using namespace gputest::literals;
using tests::about;
using tests::check;
using tests::gib;
using tests::mib;
using tests::require;
using tests::View;

class MemoryDeathTest : public tests::RealDeviceDeathTest {};

__global__ void write_bytes(unsigned char* bytes, std::size_t count) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    bytes[i] = static_cast<unsigned char>(i);
  }
}

__global__ void allocate_in_the_kernel(int* got) {
  void* const memory = malloc(1024);
  *got = memory != nullptr ? 1 : 0;
  free(memory);
}

void write_and_wait(void* memory, std::size_t count) {
  write_bytes<<<512, 256>>>(static_cast<unsigned char*>(memory), count);
  check(cudaDeviceSynchronize());
}

void use(MemoryKind kind) {
  View view;
  view.use_device_0();
  session::Account::instance().open({"a claim", {2_GiB}});
  memory_resource resource{0, kind};
  // The first kernels take something for themselves, which stays with the context.
  void* const first = resource.allocate(mib);
  write_and_wait(first, mib);
  resource.deallocate(first, mib);
  require(devices::cuda_process().synchronize_and_trim().error.empty(),
          "settled"); // a pool keeps more than was asked of it
  const auto before = view.used();
  void* const memory = resource.allocate(gib);
  write_and_wait(memory, gib);
  require(view.used() >= before + gib, "1 GiB of the device is in use");

  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream));
  void* const ordered = resource.allocate_async(gib, 256, stream);
  write_bytes<<<512, 256, 0, stream>>>(static_cast<unsigned char*>(ordered), gib);
  resource.deallocate_async(ordered, gib, 256, stream);
  resource.deallocate(memory, gib);
  require(resource.kind() == kind, "it is of the kind that was asked for");
  session::Account::instance().close();
  require(devices::cuda_process().synchronize_and_trim().error.empty(), "settled");
  const auto after = view.used();
  std::printf("%s: %llu MiB before, %llu MiB after\n", std::string{to_string(kind)}.c_str(),
              static_cast<unsigned long long>(before / mib), static_cast<unsigned long long>(after / mib));
  require(about(after, before), "everything is back");
}

CLAIM(MemoryDeathTest, a_pool_serves_memory) { use(MemoryKind::pool); }
CLAIM(MemoryDeathTest, malloc_serves_memory) { use(MemoryKind::malloc); }

CLAIM(MemoryDeathTest, the_kind_is_what_the_driver_says) {
  int pools = 0;
  check(cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, 0));
  require((memory_resource{0}.kind() == MemoryKind::pool) == (pools != 0), "pool where the driver has pools");
}

CLAIM(MemoryDeathTest, more_than_the_lease_is_refused) {
  View view;
  view.use_device_0();
  session::Account::instance().open({"a claim", {1_GiB}});
  memory_resource resource{0};
  void* const held = resource.allocate(512 * mib);
  const auto before = view.used();
  bool refused = false;
  try {
    static_cast<void>(resource.allocate(513 * mib));
  } catch (const LeaseExceeded& error) {
    std::printf("%s\n", error.what());
    refused = true;
  }
  require(refused, "a MiB more than the lease is refused");
  require(view.used() == before, "and the driver was not asked");
  resource.deallocate(held, 512 * mib);
}

CLAIM(MemoryDeathTest, the_trim_gives_back_what_a_raised_threshold_keeps) {
  View view;
  view.use_device_0();
  const auto before = view.used();
  cudaMemPool_t pool = nullptr;
  check(cudaDeviceGetDefaultMemPool(&pool, 0));
  std::uint64_t never = UINT64_MAX;
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &never));
  memory_resource resource{0, MemoryKind::pool};
  resource.deallocate(resource.allocate(4 * gib), 4 * gib);
  check(cudaDeviceSynchronize());
  const auto kept = view.used();
  require(kept >= before + 4 * gib - tests::slack_bytes, "the pool keeps 4 GiB");
  require(devices::cuda_process().synchronize_and_trim().error.empty(), "settled");
  const auto after = view.used();
  std::printf("raised threshold: %llu MiB before, %llu MiB kept, %llu MiB after the trim\n",
              static_cast<unsigned long long>(before / mib), static_cast<unsigned long long>(kept / mib),
              static_cast<unsigned long long>(after / mib));
  require(about(after, before), "the trim gives them back");
}

#if CUDART_VERSION >= 13000
CLAIM(MemoryDeathTest, the_trim_gives_back_what_can_be_had_of_the_managed_pool) {
  View view;
  view.use_device_0();
  int managed = 0;
  check(cudaDeviceGetAttribute(&managed, cudaDevAttrConcurrentManagedAccess, 0));
  cudaMemLocation location{};
  location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t pool = nullptr;
  if (managed == 0 || cudaMemGetDefaultMemPool(&pool, &location, cudaMemAllocationTypeManaged) != cudaSuccess) {
    std::printf("this driver has no managed memory pool of a device\n");
    return;
  }
  std::uint64_t never = UINT64_MAX;
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &never));
  const auto before = view.used();
  void* memory = nullptr;
  check(cudaMallocFromPoolAsync(&memory, gib, pool, nullptr));
  write_and_wait(memory, gib);
  check(cudaFreeAsync(memory, nullptr));
  check(cudaDeviceSynchronize());
  const auto kept = view.used();
  require(devices::cuda_process().synchronize_and_trim().error.empty(), "settled");
  const auto after = view.used();
  std::printf("managed pool: %llu MiB before, %llu MiB kept, %llu MiB after the trim\n",
              static_cast<unsigned long long>(before / mib), static_cast<unsigned long long>(kept / mib),
              static_cast<unsigned long long>(after / mib));
  // CUDA 13.0 keeps it all even when the program trims this pool itself: nobody can do better than that.
  check(cudaMemPoolTrimTo(pool, 0));
  check(cudaDeviceSynchronize());
  require(about(after, view.used()), "the trim gives back what can be had back");
}
#endif

CLAIM(MemoryDeathTest, managed_memory_counts_against_one_device) {
  View view;
  view.use_device_0();
  const auto before = view.used();
  session::Account::instance().open({"a claim", {2_GiB}});
  managed_memory_resource managed{0};
  memory_resource resource{0};
  void* const pages = managed.allocate(gib + gib / 2);
  bool refused = false;
  try {
    static_cast<void>(resource.allocate(gib));
  } catch (const LeaseExceeded&) {
    refused = true;
  }
  require(refused, "managed and other memory share the lease");
  write_and_wait(pages, gib + gib / 2);
  const auto touched = view.used();
  std::printf("1536 MiB of managed memory touched on the device take %llu MiB of it\n",
              static_cast<unsigned long long>((touched - before) / mib));
  require(touched >= before + gib + gib / 2 - tests::slack_bytes, "touched on the device they are there");
  managed.deallocate(pages, gib + gib / 2);
  session::Account::instance().close();
}

CLAIM(MemoryDeathTest, managed_memory_beyond_what_is_free_is_refused) {
  View view;
  view.use_device_0();
  managed_memory_resource managed{0};
  const auto total = view.device().total.count();
  bool refused = false;
  try {
    static_cast<void>(managed.allocate(total));
  } catch (const OutOfMemory& error) {
    std::printf("%s\n", error.what());
    refused = true;
  }
  require(refused, "the whole device is more than is free");
}

/// What a heap takes once a kernel has used it; the context and the kernel's module apart.
void heap_costs(std::uint64_t heap) {
  View view;
  view.use_device_0();
  int* got = nullptr;
  check(cudaMalloc(&got, sizeof(int)));
  write_and_wait(got, sizeof(int)); // loads the module
  const auto before = view.used();
  if (heap != 0) {
    require(devices::cuda_process().set_heap(0, Bytes{heap}).empty(), "the limit can be set");
    std::size_t limit = 0;
    check(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
    require(limit >= heap, "and it is what was asked");
  }
  const auto set = view.used();
  allocate_in_the_kernel<<<1, 1>>>(got);
  check(cudaDeviceSynchronize());
  const auto cost = view.used() - before;
  const auto rule = policy::heap_cost(Bytes{heap}).count();
  std::printf("heap %5llu MiB: %5llu MiB when set, %5llu MiB after the first kernel; the rule says %5llu MiB\n",
              static_cast<unsigned long long>(heap / mib), static_cast<unsigned long long>((set - before) / mib),
              static_cast<unsigned long long>(cost / mib), static_cast<unsigned long long>(rule / mib));
  require(heap == 0 || cost <= rule, "the rule covers the cost");
  require(heap == 0 || !devices::cuda_process().set_heap(0, Bytes{2 * heap}).empty(),
          "it cannot be changed after its first use");
}

CLAIM(MemoryDeathTest, heap_of_the_default_size) { heap_costs(0); }
CLAIM(MemoryDeathTest, heap_of_64_mib) { heap_costs(64 * mib); }
CLAIM(MemoryDeathTest, heap_of_128_mib) { heap_costs(128 * mib); }
CLAIM(MemoryDeathTest, heap_of_256_mib) { heap_costs(256 * mib); }
CLAIM(MemoryDeathTest, heap_of_512_mib) { heap_costs(512 * mib); }
CLAIM(MemoryDeathTest, heap_of_1024_mib) { heap_costs(1024 * mib); }

} // namespace
} // namespace gputest
