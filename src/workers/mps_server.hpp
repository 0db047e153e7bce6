// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "workers/meeting_place.hpp"
#include "workers/worker_message.hpp"

#include <string>

namespace gputest::workers {

/// What a worker shares with the others of its ctest run, so that their kernels run at the same time: a server of MPS
/// (CUDA's Multi-Process Service), which takes the contexts of several processes for one.
///
/// An error that makes a context useless, and a process that is killed while its kernel runs, are an error in all
/// clients of a server. So it is *given up* then: the next workers use none.
///
/// CUDA's documentation ("Multi-Process Service") says what is shared; the rest was seen with driver 580 on an H200.
class MpsServer {
public:
  /// None.
  MpsServer() = default;

  /// That which a worker of the run is to use that is started now. Starts it if there is none, unless GPUTEST_MPS or
  /// the machine is against it; blocks for two seconds at most. Not in a subreaper, whose child its owner would be.
  [[nodiscard]] static MpsServer join(const MeetingPlace& place);

  [[nodiscard]] Mps owner() const { return owner_; }

  /// What its clients have as CUDA_MPS_PIPE_DIRECTORY; empty: what this process has.
  [[nodiscard]] const std::string& folder() const { return path_; }

  /// What the user is to be told; empty: nothing.
  [[nodiscard]] const std::string& message() const { return message_; }

  /// Whether workers that are started now use another one, or none.
  [[nodiscard]] bool is_outdated(const MeetingPlace& place) const;

private:
  bool may_have_one_ = false; ///< of the run's own
  Mps owner_ = Mps::none;
  std::string path_;
  std::string message_;
  PresenceLock client_; ///< the server lasts as long as this
};

/// Lets the next workers of the run use no server. Does nothing if it is not the run's.
void give_up_mps_server(const MeetingPlace& place, Mps owner);

/// A case has failed in a client of that owner's server, and not for the error of another one: whatever fails in other
/// clients may come from it.
void blame_for_shared_errors(const MeetingPlace& place, Mps owner);

/// Whether workers of the run share a server of its own, or did until an error.
[[nodiscard]] bool has_used_mps_server(const Descriptor& run);

} // namespace gputest::workers
