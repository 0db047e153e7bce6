// SPDX-License-Identifier: BSD-3-Clause
#include "child.hpp"
#include "clock.hpp"
#include "contestant.hpp"
#include "experiments.hpp"
#include "random_pause.hpp"
#include "shared.hpp"

#include <atomic>
#include <stdexcept>

namespace gputest::benchmarks {

namespace {

constexpr std::chrono::seconds limit{10};

struct Meeting {
  Gate hold, held, release; ///< for the one who has it first
  Gate wait, waited;        ///< for the other
  std::size_t contestant = 0;
  std::atomic<bool> asks{false};
  std::int64_t released_at = 0;
  std::int64_t acquired_at = 0;
};

std::vector<std::unique_ptr<Lock>> open_all(const std::vector<std::string>& places) {
  std::vector<std::unique_ptr<Lock>> locks;
  for (const auto& contestant : contestants()) {
    locks.push_back(contestant.open(places[locks.size()]));
  }
  return locks;
}

[[noreturn]] void be_first(Meeting& meeting, const std::vector<std::string>& places) {
  const auto locks = open_all(places);
  for (;;) {
    meeting.hold.pass();
    Lock& lock = *locks[meeting.contestant];
    lock.acquire();
    meeting.held.open();
    meeting.release.pass();
    meeting.released_at = now_ns();
    lock.release();
  }
}

[[noreturn]] void be_second(Meeting& meeting, const std::vector<std::string>& places) {
  const auto locks = open_all(places);
  for (;;) {
    meeting.wait.pass();
    Lock& lock = *locks[meeting.contestant];
    meeting.asks = true;
    lock.acquire();
    meeting.acquired_at = now_ns();
    lock.release();
    meeting.waited.open();
  }
}

} // namespace

Table measure_hand_over(const std::string& folder, int repeats) {
  const auto places = make_places(folder, "hand_over");
  Table table{"hand_over", "Hand-over to a blocked process", Table::Unit::nanoseconds, empty_rows()};
  const Shared<Meeting> meeting;
  const Child first{[&] { be_first(*meeting.begin(), places); }};
  const Child second{[&] { be_second(*meeting.begin(), places); }};
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (std::size_t i = 0; i < contestants().size(); ++i) {
      meeting->contestant = i;
      meeting->asks = false;
      meeting->hold.open();
      if (!meeting->held.pass_within(limit)) {
        throw std::runtime_error{table.rows[i].name + " was not had within 10 s, though free"};
      }
      meeting->wait.open();
      while (!meeting->asks) {
        std::this_thread::yield();
      }
      second.wait_until_asleep();
      random_pause();
      meeting->release.open();
      if (!meeting->waited.pass_within(limit)) {
        throw std::runtime_error{table.rows[i].name + " was not handed over within 10 s"};
      }
      table.rows[i].samples.push_back(static_cast<double>(meeting->acquired_at - meeting->released_at));
    }
  }
  return table;
}

} // namespace gputest::benchmarks
