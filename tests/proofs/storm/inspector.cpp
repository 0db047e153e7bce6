// SPDX-License-Identifier: BSD-3-Clause
#include "inspector.hpp"

#include "oracle.hpp"

#include "core/ledger/ledger.hpp"
#include "core/os/process.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <exception>
#include <memory>

namespace gputest::tests::storm {

using ledger::Ledger;

namespace {

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

} // namespace

std::optional<Stillness> inspect(Board& board, const std::string& folder, const Asking& asking) {
  return in_time<Stillness>(asking, [&] {
    Ledger ledger{folder, std::make_shared<Oracle>(board, 0)};
    policy::Snapshot snapshot;
    snapshot.devices.resize(board.devices, {device_bytes, 0});
    for (const auto& entry : ledger.entries()) {
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
    for (const auto& entry : ledger.entries()) {
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

} // namespace gputest::tests::storm
