// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/os/file.hpp"
#include "core/os/test_status_page.hpp"
#include "workers/meeting_place.hpp"
#include "workers/mps_server.hpp"
#include "workers/test_case.hpp"

#include <chrono>
#include <csignal>
#include <optional>
#include <set>
#include <string>

#include <sys/types.h>

namespace gputest::workers {

/// The process that runs cases: the test executable itself, a child of the supervisor. What a case starts there and
/// leaves without a parent becomes the supervisor's child, too.
class WorkerProcess {
public:
  /// Changes the handling of SIGPIPE and SIGCHLD in this process; the worker gets it as it was.
  WorkerProcess(const MeetingPlace& place, const TestCase& test, const MpsServer& server);

  /// `why` is what the run log says of the start. Returns why it could not be started; empty: it was.
  [[nodiscard]] std::string start(const std::string& why);

  /// Blocks until it waits for its first case. Returns why it never will; empty: it does. Takes a minute at most, and
  /// ends it if it never will, or if ctest ends.
  [[nodiscard]] std::string wait_until_ready();

  /// The socket to it.
  [[nodiscard]] const os::Descriptor& socket() const { return socket_; }
  /// Its pidfd, readable when it has ended.
  [[nodiscard]] const os::Descriptor& end() const { return end_; }

  /// What it has written since the last call that belongs to no case: before its first case, and at its end.
  [[nodiscard]] std::string take_output();

  /// Tells it to end, as a program does, so that what it writes at its end is written.
  void hang_up() { socket_ = {}; }

  /// Its waitpid() status. Blocks until it has ended.
  [[nodiscard]] int wait_for_status();

  /// Whether it has ended by exit(), all of whose handlers and destructors have run, and with the signals' actions that
  /// it had when its first case began. If not, nobody knows how it would have ended without its last case, or without
  /// a handler that one of them has left.
  [[nodiscard]] bool has_ended_by_exit() const { return page_ && page_->report().exit_has_ended; }

  /// Copies the report of GoogleTest that a case has written, and the worker has not moved before it ended, if any.
  void copy_report(const std::string& to) const;

  /// Kills it and all that the case has started, also those whose parents have ended; but not what earlier cases have
  /// left behind.
  void kill_all();

  /// The processes, with their names, whose parents the case has left and which still run. Each is named once.
  [[nodiscard]] std::string left_behind();

private:
  [[nodiscard]] std::string report_of(pid_t supervisor) const;
  [[noreturn]] void become_worker(os::Descriptor socket, pid_t supervisor, const std::string& why);
  [[nodiscard]] std::set<pid_t> children() const;

  const MeetingPlace& place_;
  const TestCase& test_;
  const MpsServer& server_;
  struct sigaction pipe_ {};
  struct sigaction child_ {};
  os::Descriptor children_; ///< the folder of /proc that has the file
  std::optional<os::TestStatusPage> page_;
  os::Descriptor said_;
  off_t taken_ = 0; ///< of `said_`
  os::Descriptor socket_;
  os::Descriptor end_;
  pid_t pid_ = 0;        ///< 0: there is none, or its end is known
  std::set<pid_t> left_; ///< what left_behind() has named, and still runs
};

} // namespace gputest::workers
