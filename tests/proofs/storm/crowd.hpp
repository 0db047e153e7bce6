// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "board.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <sys/types.h>

namespace gputest::tests::storm {

/// The life of one process of a storm: enters, leases at random, and ends, if it is not killed before. Called in a
/// forked child. Returns its exit status.
int live(Board& board, const std::string& folder, std::uint64_t number, unsigned seed);

/// The processes of one storm: starts them, kills and stops some, lets the stopped go on, and shows the memory of the
/// dead as free after a while.
///
/// The calling process must be single-threaded, and have no other children that it wants to hear of.
class Crowd {
public:
  Crowd(Board& board, std::string folder, std::mt19937& random);

  /// Forks one more, without exec. False, and a violation, if that cannot be done.
  bool start_one();

  /// Kills or stops one of them, wherever it is. Most are struck by their own fate.
  void strike_one();

  /// Stops one of them, wherever it is.
  void stop_one();

  /// Whether those that stop from now on stay stopped. A process that stops while it has the ledger's mutex does not:
  /// nobody could go on. False: all of them continue.
  void keep_stopped(bool keep);

  /// Sleeps until somebody ends or stops, for a millisecond at most, and does what there is to do.
  void attend();

  /// Kills all, and blocks until they are gone and their memory is back.
  void clear();

  [[nodiscard]] bool empty() const { return processes_.empty(); }
  [[nodiscard]] std::size_t running() const { return running_; }

  /// Whether another one has room in the table.
  [[nodiscard]] bool has_room() const { return processes_.size() < most_rows / 2; }

  /// Whether somebody is stopped and will continue soon.
  [[nodiscard]] bool somebody_stopped() const;

  /// Whether nobody will do anything by itself, and all memory of the dead is back. Those that stay stopped may be
  /// anywhere.
  [[nodiscard]] bool settled() const;

  /// A number for a process that is none of these.
  [[nodiscard]] std::uint64_t next_number();

  /// Everybody in words, a line each.
  [[nodiscard]] std::string description() const;

private:
  using Clock = std::chrono::steady_clock;

  struct Process {
    std::uint64_t number = 0;
    pid_t pid = 0;                               ///< 0 once it has been reaped
    int life = -1;                               ///< a pipe: hangs up when it and its forked children have ended
    std::optional<Clock::time_point> goes_on_at; ///< it is stopped
    bool stays_stopped = false;
    std::optional<Clock::time_point> back_at; ///< when its memory will be back
  };

  [[nodiscard]] unsigned up_to(unsigned most) const {
    return std::uniform_int_distribution<unsigned>{0, most}(*random_);
  }
  void reap();
  void note_stop(Process& process);
  void let_go_on();
  void give_back_memory();

  Board* board_;
  std::string folder_;
  std::mt19937* random_;
  std::uint64_t next_number_ = 0;
  std::vector<Process> processes_; ///< running, or with memory that is not back
  std::size_t running_ = 0;
  bool keep_stopped_ = false;
};

} // namespace gputest::tests::storm
