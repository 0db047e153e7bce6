// SPDX-License-Identifier: BSD-3-Clause
#include "child.hpp"
#include "experiments.hpp"
#include "latency.hpp"
#include "ledger_lock.hpp"
#include "shared.hpp"

#include <unistd.h>

#include <array>
#include <stdexcept>

namespace gputest::benchmarks {

namespace {

constexpr std::array<int, 4> record_counts{1, 16, 64, 256};
constexpr std::chrono::seconds limit{60};

/// Processes that hold a byte each, until they are killed.
std::vector<Child> fill(const std::string& place, int processes) {
  std::vector<Child> children;
  const Shared<Gate> ready;
  for (int i = 0; i < processes; ++i) {
    children.emplace_back([&] {
      const auto lock = open_ledger(place, 1);
      lock->acquire();
      ready->open();
      ::pause();
    });
    if (!ready->pass_within(limit)) {
      throw std::runtime_error{"a process did not get onto the ledger in 60 s"};
    }
  }
  return children;
}

} // namespace

Table measure_growth(const std::string& folder, int repeats) {
  const Contestant& baseline = contestants().front();
  const std::string baseline_place = folder + "/growth";
  baseline.make(baseline_place);
  std::vector<LatencyCase> cases{{baseline.name, [&] { return baseline.open(baseline_place); }}};
  std::vector<std::vector<Child>> others;
  for (const int records : record_counts) {
    const std::string place = folder + "/growth." + std::to_string(records);
    make_ledger(place);
    others.push_back(fill(place, records - 1));
    cases.push_back({"gputest lease, " + std::to_string(records) + (records == 1 ? " record" : " records"),
                     [place] { return open_ledger(place, whole_device / 2); }});
  }
  return {"growth", "Acquire and release, uncontended, by the number of records on the ledger",
          Table::Unit::nanoseconds, measure_latencies(cases, repeats)};
}

} // namespace gputest::benchmarks
