// SPDX-License-Identifier: BSD-3-Clause
#include "child.hpp"
#include "clock.hpp"
#include "contestant.hpp"
#include "experiments.hpp"
#include "line.hpp"
#include "shared.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace gputest::benchmarks {

namespace {

constexpr std::array<std::size_t, 3> sizes{2, 16, 64};
/// A time and not a number of times: who gets a lock that is not fair does all its times in one go, and nobody would
/// ever wait.
constexpr std::int64_t run_ns = 1'000'000'000;
constexpr std::int64_t hold_ns = 2'000;
constexpr std::chrono::seconds limit{60};

/// What one member of a crowd saw.
struct Member {
  std::int64_t began_at = 0;
  std::int64_t ended_at = 0;
  std::int64_t worst_wait = 0; ///< also of a wait that goes on when the time is over
  std::int64_t times = 0;
};

void be_member(Lock& lock, const Line& line, Member& member) {
  lock.acquire(); // once for nothing, so that a fork's first writes to its memory are not measured
  lock.release();
  line.start();
  member.began_at = now_ns();
  member.ended_at = member.began_at;
  while (member.ended_at - member.began_at < run_ns) {
    lock.acquire();
    const std::int64_t acquired_at = now_ns();
    member.worst_wait = std::max(member.worst_wait, acquired_at - member.ended_at);
    while (now_ns() - acquired_at < hold_ns) {
    }
    lock.release();
    ++member.times;
    member.ended_at = now_ns();
  }
}

void measure(const Contestant& contestant, const std::string& place, std::size_t size, Row& throughput, Row& worst) {
  const Shared<Member> members{size};
  const Line line{size};
  std::vector<Child> crowd;
  for (Member& member : members) {
    crowd.emplace_back([&] { be_member(*contestant.open(place), line, member); });
  }
  const std::int64_t until = now_ns() + std::chrono::nanoseconds{limit}.count();
  for (Child& child : crowd) {
    const std::chrono::nanoseconds left{std::max(until - now_ns(), std::int64_t{0})};
    if (!child.ended_within(std::chrono::duration_cast<std::chrono::milliseconds>(left))) {
      throughput.remark = worst.remark = "once or more not done within 60 s";
      return;
    }
  }
  std::int64_t began_at = INT64_MAX;
  std::int64_t ended_at = 0;
  std::int64_t worst_wait = 0;
  std::int64_t times = 0;
  for (const Member& member : members) {
    began_at = std::min(began_at, member.began_at);
    ended_at = std::max(ended_at, member.ended_at);
    worst_wait = std::max(worst_wait, member.worst_wait);
    times += member.times;
  }
  throughput.samples.push_back(static_cast<double>(times) * 1e9 / static_cast<double>(ended_at - began_at));
  worst.samples.push_back(static_cast<double>(worst_wait));
}

} // namespace

std::vector<Table> measure_crowds(const std::string& folder, int repeats) {
  std::vector<Table> tables;
  for (const std::size_t size : sizes) {
    const std::string number = std::to_string(size);
    const auto places = make_places(folder, "crowd." + number);
    Table throughput{"throughput_" + number, number + " processes: acquired, held for 2 us and released a second",
                     Table::Unit::per_second, empty_rows()};
    Table worst{"worst_wait_" + number, number + " processes: worst wait in a second", Table::Unit::nanoseconds,
                empty_rows()};
    for (int repeat = 0; repeat < repeats; ++repeat) {
      for (std::size_t i = 0; i < places.size(); ++i) {
        measure(contestants()[i], places[i], size, throughput.rows[i], worst.rows[i]);
      }
    }
    tables.push_back(throughput);
    tables.push_back(worst);
  }
  return tables;
}

} // namespace gputest::benchmarks
