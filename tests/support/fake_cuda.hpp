#pragma once

#include <array>
#include <cstddef>

namespace gputest::tests {

/// The state of the fake CUDA driver in this process, for a test to set and to read.
struct FakeCuda {
  static constexpr int most_devices = 4;

  struct Device {
    bool active = false;           ///< has a primary context
    int synchronize_result = 0;    ///< what cuCtxSynchronize() answers in that context
    int retain_result = 0;         ///< what cuDevicePrimaryCtxRetain() answers
    int push_result = 0;           ///< what cuCtxPushCurrent() answers
    bool has_pools = true;         ///< whether the device supports memory pools
    bool own_current_pool = false; ///< whether the current pool is another one than the default

    int retained = 0;
    int synchronized = 0;
    int default_pool_trimmed = 0;
    int current_pool_trimmed = 0;
    int graph_memory_trimmed = 0;
  };

  bool initialised = false; ///< cuInit() was called
  int devices = 1;
  std::array<Device, most_devices> device{};

  std::array<int, 8> stack{}; ///< the thread's context stack, as device ordinals
  std::size_t depth = 0;
};

} // namespace gputest::tests

extern "C" {
/// The one state; look it up with dlsym(), so that a test links no CUDA.
gputest::tests::FakeCuda* fake_cuda();
}
