// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <csignal>
#include <ctime>
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
  Fate(std::mt19937& random, unsigned operations) : random_{&random} { choose(operations); }

  /// At the start of each operation.
  void begin_operation() {
    if (signal_ == 0 || due_) {
      return;
    }
    if (operations_left_ > 0) {
      --operations_left_;
      return;
    }
    due_ = true;
    if (by_timer_) {
      set_timer();
    }
  }

  /// From where the ledger calls.
  void in_the_ledger() {
    if (!due_ || by_timer_) {
      return;
    }
    if (calls_left_ > 0) {
      --calls_left_;
      return;
    }
    due_ = false;
    const int signal = signal_;
    signal_ = 0;
    static_cast<void>(::raise(signal));
    choose(4); // it was stopped, and goes on
  }

  /// Strikes soon, whatever was meant to happen.
  void hasten() {
    if (signal_ == 0 || signal_ == SIGSTOP) {
      signal_ = SIGKILL;
    }
    by_timer_ = true;
    set_timer();
  }

private:
  unsigned up_to(unsigned most) const { return std::uniform_int_distribution<unsigned>{0, most}(*random_); }

  void choose(unsigned operations) {
    const unsigned die = up_to(99);
    signal_ = die < 60 ? SIGKILL : die < 77 ? SIGABRT : die < 94 ? SIGSEGV : die < 97 ? SIGSTOP : 0;
    by_timer_ = up_to(3) != 0;
    operations_left_ = up_to(operations);
    calls_left_ = up_to(4);
  }

  void set_timer() const {
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = signal_;
    timer_t timer{};
    ::timer_create(CLOCK_MONOTONIC, &event, &timer);
    // Between a microsecond and four milliseconds, each power of two as often as another: what a process does takes a
    // few microseconds where nobody is in its way, and milliseconds where it waits.
    constexpr long nanoseconds = 1000;
    itimerspec delay{};
    delay.it_value.tv_nsec = (nanoseconds << up_to(11)) + static_cast<long>(up_to(2000));
    ::timer_settime(timer, 0, &delay, nullptr);
  }

  std::mt19937* random_;
  int signal_ = 0; ///< none
  bool by_timer_ = false;
  unsigned operations_left_ = 0; ///< before the one that is struck
  bool due_ = false;
  unsigned calls_left_ = 0; ///< in the ledger, before it strikes
};

} // namespace gputest::tests::storm
