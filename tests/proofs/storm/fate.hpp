// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <csignal>
#include <random>

namespace gputest::tests::storm {

/// What strikes one process of a storm, and when: SIGKILL, SIGABRT, SIGSEGV or SIGSTOP, or nothing.
///
/// Either a timer of the process's own, set for a moment in one of its operations: that hits any instruction, without a
/// killer that would have to find the moment. Or the process itself, when the ledger calls it in one of its operations:
/// that hits where the ledger's mutex is held, or where its own claim is in the queue.
class Fate {
public:
  /// `operations`: how many the process will do at most.
  Fate(std::mt19937& random, unsigned operations);

  /// At the start of each operation.
  void begin_operation();

  /// From where the ledger calls.
  void in_the_ledger();

  /// Strikes soon, whatever was meant to happen.
  void hasten();

private:
  unsigned up_to(unsigned most) const { return std::uniform_int_distribution<unsigned>{0, most}(*random_); }
  void choose(unsigned operations);
  void set_timer() const;

  std::mt19937* random_;
  int signal_ = 0; ///< none
  bool by_timer_ = false;
  unsigned operations_left_ = 0; ///< before the one that is struck
  bool due_ = false;
  unsigned calls_left_ = 0; ///< in the ledger, before it strikes
};

} // namespace gputest::tests::storm
