// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "workers/run_folder.hpp"
#include "workers/worker_message.hpp"

#include <string>

namespace gputest::workers {

/// What a worker shares with the others of its ctest run, so that their kernels run at the same time: a server of MPS
/// (CUDA's Multi-Process Service), which takes the contexts of several processes for one.
///
/// An error that makes a context useless, and a process that is killed while its kernel runs, are an error in all
/// clients of a server. So it is *replaced* then: the next workers use another one, in a folder `mps-<number>` of the
/// run with a control daemon of its own, and after the third none.
///
/// CUDA's documentation ("Multi-Process Service") says what is shared; the rest was seen with driver 580 on an H200.
class MpsServer {
public:
  /// None.
  MpsServer() = default;

  /// That which a worker of the run is to use that is started now. Starts it if there is none, unless GPUTEST_MPS or
  /// the machine is against it; blocks for two seconds at most. Not in a subreaper, whose child its owner would be.
  [[nodiscard]] static MpsServer join(const RunFolder& run);

  /// Its number; no_mps_server, or mps_server_of_user.
  [[nodiscard]] int number() const { return number_; }

  /// What its clients have as CUDA_MPS_PIPE_DIRECTORY; empty: what this process has.
  [[nodiscard]] const std::string& folder() const { return path_; }

  /// What the user is to be told; empty: nothing.
  [[nodiscard]] const std::string& message() const { return message_; }

  /// Whether workers that are started now use another one.
  [[nodiscard]] bool is_replaced(const RunFolder& run) const;

private:
  bool may_have_one_ = false; ///< of the run's own
  int number_ = no_mps_server;
  std::string path_;
  std::string message_;
  Marked client_; ///< the server lasts as long as this
};

/// Lets the next workers of the run use another server than that of this number, or none. Does nothing if the run does
/// not own it.
void replace_mps_server(const RunFolder& run, int number);

/// Whether workers of the run share servers of its own.
[[nodiscard]] bool uses_mps_servers(const Descriptor& run);

} // namespace gputest::workers
