// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "board.hpp"
#include "crowd.hpp"

#include <chrono>
#include <cstdint>
#include <random>
#include <string>

namespace gputest::tests::storm {

/// How a storm is to be.
struct Settings {
  std::size_t processes = 64;
  std::size_t devices = 4;
  std::uint64_t kills = 5000; ///< of one storm
  unsigned seed = 1;
  std::string folder;
  std::chrono::seconds patience{20}; ///< without any progress, and nobody stopped
};

/// Drives one storm: rounds of one crowd after the other, and between them looks whether somebody sleeps who should
/// not.
class Driver {
public:
  Driver(const Settings& settings, Board& board);

  /// Until enough are killed and everybody else has finished, or a rule is broken.
  void run();

private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] unsigned up_to(unsigned most) { return std::uniform_int_distribution<unsigned>{0, most}(random_); }
  [[nodiscard]] bool healthy() const { return board_->violations() == 0; }

  void choose_weather();
  void round();
  void settle(bool holding);
  bool gets_on();
  void give_up(Rule rule, const std::string& what);
  void give_up_still(const std::string& when);

  Settings settings_;
  Board* board_;
  std::mt19937 random_;
  Crowd crowd_;
  std::size_t most_running_ = 0; ///< in this round
  std::uint64_t steps_seen_ = 0;
  Clock::time_point got_on_at_ = Clock::now();
};

} // namespace gputest::tests::storm
