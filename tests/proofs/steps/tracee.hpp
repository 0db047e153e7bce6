// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "proofs/steps/system_calls.hpp"

#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

namespace gputest::tests {

/// An actor's process under ptrace(), from its first stop on. Whoever started it is its tracer.
class Tracee {
public:
  /// Why no process can be traced here; empty if one can.
  [[nodiscard]] static std::string why_not();

  /// Waits for the process's first stop, and lets it go.
  explicit Tracee(pid_t process);

  enum class Stop {
    breakpoint,
    entry,  ///< into a system call, not made yet
    exit,   ///< from a system call
    step,   ///< after one instruction
    asleep, ///< goes on, blocked where only somebody else can wake it
    gone,   ///< has ended
  };

  /// Blocks until the breakpoint that the process, which runs, comes to.
  Stop await_breakpoint();

  /// Goes on to the next system call's entry or exit, or to a breakpoint.
  Stop to_boundary();

  /// Goes on from an entry into a call that locks a mutex which somebody else has, until it is blocked: `asleep`.
  Stop to_blocked();

  /// Goes on by one instruction. Not across one that at_system_call() or at_breakpoint() says it stands before.
  Stop step();

  /// Goes on, and leaves the process alone.
  void let_go();

  /// Whether the next instruction is a system call's; which one.
  [[nodiscard]] std::optional<SystemCall> at_system_call() const;
  [[nodiscard]] bool at_breakpoint() const;

  /// Which one, at an entry or exit.
  [[nodiscard]] SystemCall system_call() const;

  /// At an entry: the call will not be made. At an exit: what it seems to have returned.
  void leave_out() const;
  void set_result(long result) const;
  /// At an entry, or before the instruction: changes the third argument.
  void set_third_argument(unsigned long value) const;

  /// Changes a word of its memory.
  void set_word(std::uintptr_t address, long value) const;

  /// What file it has open under that number.
  [[nodiscard]] std::string file(unsigned long descriptor) const;

  /// How it ended, or what signal killed it, for messages.
  [[nodiscard]] std::string end() const;

private:
  Stop resume(int request);
  Stop await(bool (*is_asleep)(pid_t));

  pid_t pid_;
  bool inside_call_ = false;
  int signal_ = 0; ///< to be passed on when it goes on
  int status_ = 0; ///< as waitpid() tells it
};

} // namespace gputest::tests
