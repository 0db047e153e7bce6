// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/child_process.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace gputest::tests {

/// A program and all that it starts, at any depth and also after its end. This test sees their system calls that others
/// can notice, each before the kernel executes it (seccomp). Unlike a tracer it leaves no trace in /proc/<pid>/status,
/// which gputest-entry reads.
class WatchedProcesses {
public:
  /// Why there can be none here, such as a container that forbids it; empty if there can.
  [[nodiscard]] static std::string why_not();

  /// Starts `command` with this environment and no other; what it writes goes to the file `output`.
  WatchedProcesses(std::vector<std::string> command, const ChildProcess::Environment& environment,
                   const std::string& output);
  WatchedProcesses(const WatchedProcesses&) = delete;
  WatchedProcesses& operator=(const WatchedProcesses&) = delete;
  /// Kills those that are left. So does a guard if this test is killed: all their calls would fail, and wait for nothing.
  ~WatchedProcesses();

  /// A system call that is about to be executed, by a thread that waits.
  struct Step {
    std::uint64_t id = 0;
    pid_t thread = 0;
    int call = 0;
  };

  /// Blocks until there is one; nullopt when all have ended.
  [[nodiscard]] std::optional<Step> next();

  /// Whether there is one now. Blocks for 20 ms at most.
  [[nodiscard]] bool has_next() const;

  /// Lets the kernel execute it, unless it was refused.
  void execute(const Step& step) const;

  /// Lets it fail with this errno in place of that.
  void refuse(const Step& step, int error) const;

  /// That of the program.
  [[nodiscard]] pid_t pid() const { return pid_; }

private:
  void start_guard();
  void kill_all();

  pid_t pid_ = -1;
  int listener_ = -1;
  int end_ = -1; ///< a pidfd of the program, until it has ended
  int guard_ = -1; ///< the guard sees by it that this test has ended
  volatile pid_t* waiting_ = nullptr; ///< the thread whose step was neither executed nor refused, or 0; the guard's, too
};

} // namespace gputest::tests
