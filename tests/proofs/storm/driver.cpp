// SPDX-License-Identifier: BSD-3-Clause
#include "driver.hpp"

#include "inspector.hpp"

#include <algorithm>

namespace gputest::tests::storm {

using policy::DeviceMask;

Driver::Driver(const Settings& settings, Board& board)
    : settings_{settings}, board_{&board}, random_{settings.seed}, crowd_{board, settings.folder, random_} {
  board_->devices = settings_.devices;
  board_->row_count = most_rows;
  board_->processes = settings_.processes;
}

void Driver::run() {
  const auto began = Clock::now();
  while (healthy() && board_->kills() < settings_.kills) {
    choose_weather();
    round();
  }
  board_->seconds = std::chrono::duration<double>{Clock::now() - began}.count();
}

/// One round in eight has all processes on all devices. The others have few: where many change something, each of
/// their notifies makes up for one that is missing.
void Driver::choose_weather() {
  const DeviceMask all = (DeviceMask{1} << settings_.devices) - 1;
  most_running_ = settings_.processes;
  board_->open_devices = all;
  board_->whole_one_in = 40;
  if (board_->rounds % 8 != 0) {
    most_running_ = std::min<std::size_t>(most_running_, up_to(2) == 0 ? 2 + up_to(30) : 2 + up_to(3));
    board_->open_devices = most_running_ > 8 ? all : all & (1 + 2 * up_to(1));
    board_->whole_one_in = 4 + up_to(16);
  }
}

/// A storm; then everybody keeps what it holds, and some are stopped; then everybody gives it back; then everybody
/// ends.
void Driver::round() {
  ++board_->rounds;
  const std::uint64_t enough =
      board_->kills() + std::min<std::uint64_t>(settings_.kills - board_->kills(), most_running_ * (1 + up_to(10)));
  board_->set_phase(Phase::storm);
  while (healthy() && board_->kills() < enough) {
    while (crowd_.running() < most_running_ && crowd_.has_room() && crowd_.start_one()) {
    }
    if (up_to(3) == 0 && most_running_ > 8) {
      crowd_.strike_one();
    }
    crowd_.attend();
    if (!gets_on()) {
      give_up_still("nothing got on in the storm");
    }
  }
  crowd_.keep_stopped(true);
  board_->set_phase(Phase::freeze);
  settle(true);
  crowd_.keep_stopped(false);
  board_->set_phase(Phase::thaw);
  settle(false);
  board_->set_phase(Phase::storm);
  while (healthy() && !crowd_.empty()) {
    crowd_.attend();
    if (!gets_on()) {
      give_up_still("nothing got on after the storm");
    }
  }
  if (healthy()) {
    if (const std::string left = claim_everything(*board_, settings_.folder, crowd_.next_number(),
                                                  {settings_.patience, [this] { crowd_.attend(); }});
        !left.empty()) {
      give_up(Rule::remains, left);
    }
  }
  crowd_.clear();
}

/// Waits until everything is still, and looks whether that is as it should be.
void Driver::settle(bool holding) {
  unsigned last_strikes = up_to(most_running_ > 8 ? 8 : 2);
  unsigned last_stops = holding ? up_to(most_running_ > 8 ? 4 : 1) : 0;
  while (healthy()) {
    if (last_strikes > 0 && up_to(2) == 0 && !crowd_.empty()) {
      --last_strikes;
      crowd_.strike_one();
    } else if (last_stops > 0 && up_to(2) == 0 && !crowd_.empty()) {
      --last_stops;
      crowd_.stop_one();
    }
    crowd_.attend();
    const bool late = !gets_on();
    if (last_strikes + last_stops > 0 && !crowd_.empty()) {
      continue;
    }
    if (!crowd_.settled()) {
      if (late) {
        give_up_still("not everybody came to rest");
      }
      continue;
    }
    const auto seen = inspect(*board_, settings_.folder, {settings_.patience, [this] { crowd_.attend(); }});
    if (seen && seen->sleepers == 0 && (holding || seen->leasing == 0)) {
      return;
    }
    if (late || !seen) {
      give_up_still("everybody came to rest");
    }
  }
}

/// False if nothing has got on for too long.
bool Driver::gets_on() {
  const auto now = Clock::now();
  if (const std::uint64_t steps = board_->steps; steps != steps_seen_ || crowd_.somebody_stopped()) {
    steps_seen_ = steps;
    got_on_at_ = now;
  }
  return now - got_on_at_ < settings_.patience;
}

/// Notes a violation, and ends everybody who is left.
void Driver::give_up(Rule rule, const std::string& what) {
  board_->violate(rule, what + crowd_.description());
  crowd_.clear();
}

/// Where nothing moves any more: says why, as far as the ledger can tell.
void Driver::give_up_still(const std::string& when) {
  const auto seen = inspect(*board_, settings_.folder, {settings_.patience, [this] { crowd_.attend(); }});
  if (!seen) {
    give_up(Rule::stuck, when + ", and the ledger did not answer");
    return;
  }
  const Rule rule = seen->sleepers > 0 ? Rule::sleeper : seen->leasing > 0 ? Rule::deadlock : Rule::stuck;
  give_up(rule, when + "; " + std::to_string(seen->sleepers) + " requests could be granted and are not, " +
                    std::to_string(seen->leasing) + " wait for a lease");
}

} // namespace gputest::tests::storm
