// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "proofs/steps/tracee.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace gputest::tests {

/// A system call that fails, in the kernel's place.
struct Fault {
  std::size_t call = 0;  ///< of the operation, from 0
  int error = 0;         ///< 0: it writes only half of what it should
  bool for_ever = false; ///< all later calls of that kind fail too
};

/// What is done to the subject of a scenario or to another process, and where.
struct Trial {
  enum class Kind {
    kill,         ///< the subject
    kill_asleep,  ///< the subject, blocked in the call whose entry is the last boundary
    kill_blocked, ///< the same, where that call locks a mutex that somebody else has
    kill_other,   ///< the process with number `other`
    fail,         ///< a system call of the subject
  };
  Kind kind = Kind::kill;
  std::size_t boundaries = 0; ///< how many entries and exits of system calls it has gone past
  std::size_t steps = 0;      ///< and how many instructions more
  std::size_t other = 0;
  Fault fault;
};

/// What the subject's operation is made of when nothing happens to it.
struct Survey {
  std::string outcome;
  std::vector<SystemCall> calls;
  std::vector<std::size_t> instructions; ///< before each of the calls, and after the last; empty if not counted
  std::size_t others = 0;                ///< how many processes there are besides the subject
};

[[nodiscard]] std::string in_words(const Trial& trial, const Survey& survey);

/// How many trials to make: all, or what a test of a change has time for.
enum class Extent { sample, all };

/// The subject killed at system calls: at every entry and exit, or at the exits only, which in a sample stand for what
/// others see of the instructions after them, too; asleep, blocked, and at the end. In a sample of more than some
/// hundred, those at both ends and a share of those between.
[[nodiscard]] std::vector<Trial> kills_at_system_calls(const Survey& survey, Extent extent);

/// The subject killed after every `stride`th instruction, of which the survey has counted all.
[[nodiscard]] std::vector<Trial> kills_at_instructions(const Survey& survey, std::size_t stride);

/// The subject killed some instructions after each seventh system call, or before the next one if that comes first. To
/// count the instructions, a survey steps through all of them, which takes longer than these trials.
[[nodiscard]] std::vector<Trial> some_kills_at_instructions(const Survey& survey);

/// Each of the others killed at the system calls of the subject.
[[nodiscard]] std::vector<Trial> kills_of_others(const Survey& survey, Extent extent);

/// Every system call failing in every way it can, once and from then on; in a sample, in one way that changes from call
/// to call.
[[nodiscard]] std::vector<Trial> failures(const Survey& survey, Extent extent);

} // namespace gputest::tests
