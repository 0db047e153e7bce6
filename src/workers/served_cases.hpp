// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "workers/meeting_place.hpp"
#include "workers/mps_server.hpp"
#include "workers/test_case.hpp"
#include "workers/worker_message.hpp"

#include <chrono>
#include <set>
#include <string>

#include <unistd.h>

namespace gputest::workers {

/// The cases that passed in this supervisor's worker while it goes on. A file lists them until the worker was seen to
/// end; a file that remains fails `<target>.workers_end`.
class ServedCases {
public:
  ServedCases(const MeetingPlace& place, const TestCase& test, Mps owner) : place_{place}, test_{test}, owner_{owner} {}

  /// Before the case of a job (Kind::job) passes. False if there is no room to note it: the end could be missed.
  [[nodiscard]] bool add(const WorkerMessage& job);

  [[nodiscard]] bool empty() const { return !file_; }
  /// Has a line for each, if there are any.
  [[nodiscard]] const Descriptor& file() const { return file_; }

  /// Their process has ended as it should.
  void end_was_seen() const;

  /// Has the entry that ends workers tell how their process has ended, and what it wrote. Does nothing if there are
  /// none: how a process ends that has run no case says nothing about a case.
  void tell_end(const std::string& how, bool may_be_anothers_error, const std::string& wrote) const;

  /// Has that entry show what their process has written that belongs to no case, after the last of them.
  void show(const std::string& wrote) const;

  /// Shows how a process ends after them if theirs has not come to its end: they run once more in another one. Blocks
  /// until that has ended, or ctest. What they have left running is no part of it. `left_exit`: their process has ended
  /// before exit() had come to its end.
  void run_again(bool left_exit) const;

private:
  void run_again_here(bool left_exit) const;

  const MeetingPlace& place_;
  const TestCase& test_;
  Mps owner_; ///< what their process shares errors with
  std::string name_of_file_ = unconfirmed + std::to_string(::getpid());
  Descriptor file_;
  std::set<std::string> memory_;        ///< the values of their GPUTEST_MEMORY
  std::chrono::milliseconds limits_{0}; ///< the sum of their time limits
};

} // namespace gputest::workers
