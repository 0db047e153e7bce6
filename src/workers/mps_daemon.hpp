// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "workers/meeting_place.hpp"

#include <string>

namespace gputest::workers {

/// A control daemon of MPS (`nvidia-cuda-mps-control -f`) in a folder of a ctest run. The folder is that of its sockets
/// (CUDA_MPS_PIPE_DIRECTORY), and holds:
///
/// - `owner`: the process that has started it holds a PresenceLock of it;
/// - `clients`: each supervisor whose worker may use it holds a PresenceLock of it;
/// - `given_up`: is there when no more workers are to use it: why it did not start, or empty after an error;
/// - `output`: what it writes.
///
/// Its owner is an orphan, which ends it when ctest and its clients have ended, or when it is given up and its clients
/// have ended. The kernel ends it if the owner is killed. Its server is its child, and ends with it.
struct MpsDaemon {
  std::string path; ///< of the folder
  Descriptor folder;
};

/// The program; empty: it is not in PATH, nor where NVIDIA's packages put it.
[[nodiscard]] std::string mps_control_program();

/// Whether a control daemon accepts connections in a folder. Does not block.
[[nodiscard]] bool has_mps_daemon(const Descriptor& folder);

/// Blocks until there is a daemon, and starts one if there is none; for two seconds at most. Returns why there will be
/// none; empty: there is. Not in a subreaper, whose child the owner would be.
[[nodiscard]] std::string start_mps_daemon(const MeetingPlace& place, const MpsDaemon& daemon);

} // namespace gputest::workers
