#pragma once

#include <string>

namespace gputest::system {

/// What came of settling a process's GPU work.
struct Settled {
  bool used_cuda = false; ///< whether this process has a primary context on any device
  std::string error;      ///< the sticky error that makes CUDA unusable in this process, such as
                          ///< `CUDA_ERROR_ILLEGAL_ADDRESS (700)`; empty if there is none
};

/// Whether this process has already initialised CUDA, so that choosing devices comes too late. Does not initialise it.
[[nodiscard]] bool cuda_is_initialised();

/// Synchronises every active primary context of this process and gives back what the pools keep that nothing uses: each
/// device's default and current pool, those of managed memory, those of the host's pinned memory, and what CUDA graphs
/// keep. Pools that the program made and has not made current cannot be found: it has to trim those itself.
///
/// Uses libcuda.so.1 only if the process has loaded it already; creates no context and leaves the thread's current one
/// as it is. Blocks until the GPU work is done. Never throws: an error that a synchronisation returns is in the result.
[[nodiscard]] Settled settle_cuda();

} // namespace gputest::system
