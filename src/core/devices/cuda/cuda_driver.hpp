// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/device_list.hpp"

#include <string>
#include <vector>

namespace gputest::devices {

/// Whether this process has already initialised CUDA, so that choosing devices comes too late. Does not initialise it.
[[nodiscard]] bool cuda_is_initialised();

/// Whether CUDA shows this process no device but these; false also before CUDA is initialised, and where the driver is
/// too old to say.
[[nodiscard]] bool cuda_sees_only(const std::vector<std::string>& uuids);

/// Synchronises every active primary context of this process and gives back what the pools keep that nothing uses: each
/// device's default and current pool, those of managed memory, those of the host's pinned memory, and what CUDA graphs
/// keep. A pool is trimmed only if it holds more than is used of it. Pools that the program made and has not made
/// current cannot be found: it has to trim those itself.
///
/// Uses libcuda.so.1 only if the process has loaded it already; creates no context and leaves the thread's current one
/// as it is. Blocks until the GPU work is done. Never throws: an error that a synchronisation returns is in the result.
[[nodiscard]] Settled synchronize_and_trim();

/// The calling thread's current device, and the limits (cudaDeviceSetLimit()) of each active primary context. Not that
/// of the stack: the driver raises it by itself for kernels that need more. Creates no context.
[[nodiscard]] DeviceState cuda_state();

/// This process on the GPUs that CUDA shows it. Nothing but set_heap() and memory() loads the driver.
[[nodiscard]] ThisProcess& cuda_process();

} // namespace gputest::devices
