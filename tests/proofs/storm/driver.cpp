// SPDX-License-Identifier: BSD-3-Clause
#include "driver.hpp"

#include "oracle.hpp"

#include "core/ledger/ledger.hpp"
#include "core/os/process.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <exception>
#include <functional>
#include <memory>
#include <optional>

namespace gputest::tests::storm {

using policy::DeviceMask;

using ledger::Ledger;

namespace {

/// What the ledger says of itself while nothing moves.
struct Stillness {
  /// Requests that could be granted, by the ledger's own decision, and are not: at once, or if idle processes left.
  std::size_t sleepers = 0;
  std::size_t leasing = 0; ///< requests for a lease
};

/// How long to wait for a ledger's answer, and what to do meanwhile: whoever has its mutex may have to be helped on.
struct Asking {
  std::chrono::seconds patience;
  std::function<void()> meanwhile;
};

/// Runs `ask` in a forked child; returns what that wrote, or nothing if it took too long or failed.
template <class Answer, class Ask>
std::optional<Answer> in_time(const Asking& asking, Ask ask) {
  std::array<int, 2> answers{};
  if (::pipe(answers.data()) != 0) {
    return std::nullopt;
  }
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      const Answer answer = ask();
      ::_exit(::write(answers[1], &answer, sizeof answer) == sizeof answer ? 0 : 1);
    } catch (const std::exception&) {
      ::_exit(1);
    }
  }
  ::close(answers[1]);
  if (child < 0) {
    ::close(answers[0]);
    return std::nullopt;
  }
  pollfd answered{answers[0], POLLIN, 0};
  const auto until = std::chrono::steady_clock::now() + asking.patience;
  bool late = false;
  while (!late && ::poll(&answered, 1, 1) == 0) {
    asking.meanwhile();
    late = std::chrono::steady_clock::now() > until;
  }
  Answer answer{};
  const bool is_there = !late && ::read(answers[0], &answer, sizeof answer) == sizeof answer;
  ::close(answers[0]);
  if (late) {
    ::kill(child, SIGKILL);
  }
  return is_there ? std::optional<Answer>{answer} : std::nullopt; // who waits for any child has waited for this one
}

/// Looks at a ledger in a process of its own, so that what is the matter with the ledger does not stop the driver.
/// Nothing if it did not answer in time.
std::optional<Stillness> inspect(Board& board, const std::string& folder, const Asking& asking) {
  return in_time<Stillness>(asking, [&] {
    Ledger ledger{folder, std::make_shared<Oracle>(board, 0)};
    policy::Snapshot snapshot;
    snapshot.devices.resize(board.devices, {device_bytes, 0});
    for (const auto& entry : ledger.records()) {
      if (entry.alive) { // the memory of all others is back
        snapshot.claims.push_back(entry.claim);
        snapshot.claims.back().stopped = os::is_stopped(static_cast<pid_t>(entry.pid), entry.start_time);
      }
    }
    Stillness seen;
    seen.sleepers = who_could_go_on(snapshot).size();
    seen.leasing =
        static_cast<std::size_t>(std::count_if(snapshot.claims.begin(), snapshot.claims.end(), [](const auto& claim) {
          return claim.stage == policy::Stage::waiting &&
                 !claim.stopped; // one that is may sleep, and nobody may wait for it
        }));
    return seen;
  });
}

/// Enters with the whole machine, at once, after all others have ended. Empty if that works and nobody else is left.
std::string claim_everything(Board& board, const std::string& folder, std::uint64_t number, const Asking& asking) {
  using Text = std::array<char, 1024>;
  const auto answer = in_time<Text>(asking, [&] {
    Ledger ledger{folder, std::make_shared<Oracle>(board, number)};
    Ledger::EnterRequest whole;
    whole.who = std::to_string(number);
    whole.candidates = (policy::DeviceMask{1} << board.devices) - 1;
    whole.gpus = static_cast<unsigned>(board.devices);
    whole.largest_bytes = device_bytes;
    whole.whole_devices = true;
    ledger::Patience at_once;
    at_once.may_wait = false;
    std::string said;
    if (ledger.enter(whole, at_once).kind != ledger::Result::Kind::granted) {
      said = "the whole machine cannot be had at once";
    }
    for (const auto& entry : ledger.records()) {
      if (entry.who != whole.who) {
        said += "; " + std::string{entry.alive ? "alive" : "ended"} + " on the ledger: process " + entry.who;
      }
    }
    Text text{};
    std::copy_n(said.begin(), std::min(said.size(), text.size() - 1), text.begin());
    return text;
  });
  return answer ? answer->data() : "the ledger did not answer";
}

} // namespace

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
