// SPDX-License-Identifier: BSD-3-Clause
#include "latency.hpp"

#include "child.hpp"
#include "clock.hpp"
#include "shared.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <stdexcept>

namespace gputest::benchmarks {

namespace {

constexpr std::int64_t repeat_ns = 20'000'000; // thousands of calls even of the slowest
constexpr std::chrono::minutes limit{5};

/// Nanoseconds of each of so many calls.
double nanoseconds_of_each(Lock& lock, std::int64_t calls) {
  const std::int64_t began_at = now_ns();
  for (std::int64_t call = 0; call < calls; ++call) {
    lock.acquire();
    lock.release();
  }
  return static_cast<double>(now_ns() - began_at) / static_cast<double>(calls);
}

/// As many calls as a repeat takes.
std::int64_t calls_of_a_repeat(Lock& lock) {
  std::int64_t calls = 1;
  while (nanoseconds_of_each(lock, calls) * static_cast<double>(calls) < repeat_ns / 4.) {
    calls *= 2;
  }
  return calls * 4;
}

/// Fills a row of `repeats` for each case. Each case once in each repeat, in an order of its own, so that what changes
/// on the machine meanwhile touches all of them.
void run_all(const std::vector<LatencyCase>& cases, const Shared<double>& nanoseconds, std::size_t repeats) {
  std::vector<std::unique_ptr<Lock>> locks;
  std::vector<std::int64_t> calls;
  std::vector<std::size_t> order;
  for (const auto& one : cases) {
    order.push_back(locks.size());
    locks.push_back(one.open());
    calls.push_back(calls_of_a_repeat(*locks.back()));
  }
  std::minstd_rand random{1}; // the same orders in each run
  for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t row : order) {
      nanoseconds[row * repeats + repeat] = nanoseconds_of_each(*locks[row], calls[row]);
    }
  }
}

} // namespace

std::vector<Row> measure_latencies(const std::vector<LatencyCase>& cases, int repeats) {
  const auto columns = static_cast<std::size_t>(repeats);
  const Shared<double> nanoseconds{cases.size() * columns};
  Child measurer{[&] { run_all(cases, nanoseconds, columns); }};
  if (!measurer.ended_within(limit)) {
    throw std::runtime_error{"acquiring and releasing alone did not end in 5 minutes"};
  }
  std::vector<Row> rows;
  for (const auto& one : cases) {
    const double* const first = nanoseconds.begin() + rows.size() * columns;
    rows.push_back({one.name, {first, first + columns}, {}});
  }
  return rows;
}

} // namespace gputest::benchmarks
