// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "supervise/events.hpp"
#include "workers/meeting_place.hpp"
#include "workers/worker_message.hpp"

#include <string>

namespace gputest::workers {

/// A job that a supervisor has taken.
struct Job {
  Descriptor client; ///< who waits for an answer
  WorkerMessage request;
};

/// Has the supervisors of a folder see that a case waits. Returns a socket, to which one of them connects; none if the
/// folder cannot be used. `name` becomes that of the job, the oldest of which is the first in order.
[[nodiscard]] Descriptor announce_job(const Descriptor& folder, std::string& name);

/// The jobs in the folder of a worker key, for a supervisor.
class JobQueue {
public:
  explicit JobQueue(const MeetingPlace& place);

  /// Takes the oldest job that is there now. False if there is none. A client that is stopped blocks it for a second.
  [[nodiscard]] bool take_oldest(Job& job) const;

  /// Makes wait() tell of what happens in the folder from now on.
  void forget_changes() const;

  /// Waits for the events, or until something may have happened in the folder, for so long at most.
  void wait(supervise::Events& events, milliseconds limit) const;

private:
  const MeetingPlace& place_;
  Descriptor changes_; ///< inotify; none: the user may have so many watches only (fs.inotify.max_user_instances)
};

} // namespace gputest::workers
