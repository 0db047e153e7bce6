// SPDX-License-Identifier: BSD-3-Clause
#include "child.hpp"
#include "clock.hpp"
#include "devices.hpp"
#include "experiments.hpp"
#include "line.hpp"
#include "recording.hpp"
#include "shared.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <thread>

namespace gputest::benchmarks {

namespace {

using std::chrono::milliseconds;

constexpr std::int64_t run_ns = 1'000'000'000;
constexpr milliseconds hold{2};
constexpr std::chrono::seconds limit{60};

struct Case {
  const char* name;
  std::size_t processes;
  std::optional<milliseconds> asks_every;
};

constexpr std::array<Case, 4> cases{{
    {"nobody waits", 1, {}},
    {"1 process waits", 2, {}},
    {"16 processes wait", 17, {}},
    {"16 ask again every 50 ms instead", 17, milliseconds{50}},
}};

struct Scene {
  Recording recording;
  std::atomic<std::uint64_t> grants{0};
};

void be_member(const Devices& devices, const std::string& place, const Case& one, const Line& line, Scene& scene) {
  LedgerUse use = Devices::half(devices.open());
  use.asks_every = one.asks_every;
  const auto lock = open_ledger(place, use);
  line.start();
  record_to(&scene.recording);
  const std::int64_t until = now_ns() + run_ns;
  while (now_ns() < until) {
    lock->acquire();
    std::this_thread::sleep_for(hold);
    lock->release();
    ++scene.grants;
  }
}

/// Calls for each grant.
double measure(const Devices& devices, const std::string& place, const Case& one) {
  const Shared<Scene> scene;
  const Line line{one.processes};
  std::vector<Child> members;
  for (std::size_t i = 0; i < one.processes; ++i) {
    members.emplace_back([&] { be_member(devices, place, one, line, *scene.begin()); });
  }
  for (Child& member : members) {
    if (!member.ended_within(limit)) {
      throw std::runtime_error{"a process that uses a device did not end within 60 s"};
    }
  }
  must_have_recorded(scene->recording);
  return static_cast<double>(scene->recording.nvml_calls) / static_cast<double>(scene->grants);
}

} // namespace

Table measure_nvml_calls(const std::string& folder, int repeats) {
  const Devices devices{folder + "/nvml.devices"};
  Table table{"nvml",
              "NVML calls of all processes for one grant: " + devices.description(),
              Table::Unit::count,
              {},
              {{"median", 0.5}, {"best", 0}, {"worst", 1}},
              "first"};
  for (const Case& one : cases) {
    table.rows.push_back({one.name, {}, {}});
  }
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const std::string place = folder + "/nvml." + std::to_string(i) + "." + std::to_string(repeat);
      table.rows[i].samples.push_back(measure(devices, place, cases[i]));
    }
  }
  return table;
}

} // namespace gputest::benchmarks
