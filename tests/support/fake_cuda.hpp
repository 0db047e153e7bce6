// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gputest::tests {

/// The state of the fake CUDA driver in this process, for a test to set and to read.
struct FakeCuda {
  static constexpr int max_devices = 4;

  struct Device {
    bool active = false;           ///< has a primary context
    int synchronize_result = 0;    ///< what cuCtxSynchronize() answers in that context
    bool has_pools = true;         ///< whether the device supports memory pools
    bool has_managed = true;       ///< whether the device supports managed memory
    bool own_current_pool = false; ///< whether the current pool is another one than the default
    bool pools_keep = false;       ///< whether pools keep what is freed, as with a raised release threshold
    int set_limit_result = 0;      ///< what cuCtxSetLimit() answers

    std::uint64_t total_bytes = std::uint64_t{16} << 30U;
    std::uint64_t used_bytes = 0; ///< what pools keep included
    std::uint64_t kept_bytes = 0; ///< by its pools, and used by nobody

    std::uint64_t graphs_keep_bytes = 1; ///< what CUDA graphs keep and do not use

    int retained = 0;
    int synchronized = 0;
    int default_pool_trimmed = 0;
    int current_pool_trimmed = 0;
    int managed_pool_trimmed = 0;
    int graph_memory_trimmed = 0;
    std::map<int, std::size_t> limits; ///< as cuCtxSetLimit() set them
  };

  struct Allocation {
    int device = 0;
    std::uint64_t bytes = 0;
    std::string function; ///< the driver's function that made it
    void* stream = nullptr;
  };

  bool initialised = false; ///< cuInit() was called
  int init_result = 0;      ///< what cuInit() answers
  int devices = 1;
  std::array<Device, max_devices> device{};
  std::uint64_t pools_keep_bytes = 1; ///< what each pool keeps, beside its device's kept_bytes
  int host_pools_trimmed = 0;         ///< pools that belong to no device

  std::map<unsigned long long, Allocation> allocations; ///< by address
  std::vector<std::string> calls;                       ///< of functions that allocate, free and wait for streams
  int allocate_result = 0;                              ///< what the allocating functions answer where there is room
  int free_result = 0;                                  ///< what the freeing functions answer

  std::array<int, 8> stack{}; ///< the thread's context stack, as device ordinals
  std::size_t depth = 0;
};

} // namespace gputest::tests

extern "C" {
/// The one state; look it up with dlsym(), so that a test links no CUDA.
gputest::tests::FakeCuda* fake_cuda();
}
