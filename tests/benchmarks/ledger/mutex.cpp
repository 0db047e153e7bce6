// SPDX-License-Identifier: BSD-3-Clause
#include "child.hpp"
#include "devices.hpp"
#include "experiments.hpp"
#include "recording.hpp"
#include "shared.hpp"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace gputest::benchmarks {

namespace {

constexpr int starting = 16;
constexpr std::chrono::milliseconds quiet_time{500};
constexpr std::chrono::seconds limit{60};
constexpr std::uint64_t small_lease = std::uint64_t{64} << 20U;

struct Scene {
  Recording recording;
  Gate ready;
  std::atomic<bool> over{false};
};

/// Leases more than half of the device again and again, in turn with another one that does.
void be_regular(const Devices& devices, const std::string& place, Scene& scene) {
  const auto lock = open_ledger(place, Devices::half(devices.open()));
  record_to(&scene.recording);
  scene.ready.open();
  while (!scene.over) {
    lock->acquire();
    lock->release();
  }
}

/// What a test executable with one small test does.
void be_starting(const Devices& devices, const std::string& place, Scene& scene) {
  record_to(&scene.recording);
  const auto list = devices.open();
  LedgerUse use = Devices::half(list);
  use.bytes = small_lease;
  use.overhead_bytes = list->usual_overhead_bytes(0);
  const auto lock = open_ledger(place, use);
  devices.make_context(*list);
  lock->acquire();
  lock->release();
}

void must_end(Child& child) {
  if (!child.ended_within(limit)) {
    throw std::runtime_error{"a process that uses a device did not end within 60 s"};
  }
}

void measure(const Devices& devices, const std::string& place, Scene& scene) {
  scene.over = false;
  scene.recording.phase = Recording::quiet;
  std::vector<Child> regulars;
  regulars.reserve(2);
  for (int i = 0; i < 2; ++i) {
    regulars.emplace_back([&] { be_regular(devices, place, scene); });
  }
  for (int i = 0; i < 2; ++i) {
    if (!scene.ready.pass_within(limit)) {
      throw std::runtime_error{"a process did not get onto the ledger in 60 s"};
    }
  }
  std::this_thread::sleep_for(quiet_time);
  scene.recording.phase = Recording::others_start;
  std::vector<Child> others;
  others.reserve(starting);
  for (int i = 0; i < starting; ++i) {
    others.emplace_back([&] { be_starting(devices, place, scene); });
  }
  for (Child& child : others) {
    must_end(child);
  }
  scene.over = true;
  for (Child& child : regulars) {
    must_end(child);
  }
}

} // namespace

Table measure_mutex(const std::string& folder, int repeats) {
  const Devices devices{folder + "/mutex.devices"};
  const std::string place = folder + "/mutex";
  const Shared<Scene> scene;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    measure(devices, place, *scene.begin());
  }
  must_have_recorded(scene->recording);
  const auto& quiet = scene->recording.phases[Recording::quiet];
  const auto& busy = scene->recording.phases[Recording::others_start];
  Table table{"mutex",
              "The ledger's mutex is held, and a look at the device, which is made without it: " +
                  devices.description(),
              Table::Unit::nanoseconds,
              {{"held, two processes in turn", quiet.held.all(), {}},
               {"held, 16 more create contexts", busy.held.all(), "(wanted: p99 100 us, worst 1 ms)"},
               {"  of that on a processor", busy.on_processor.all(), {}},
               {"a look, two processes in turn", quiet.looks.all(), {}},
               {"a look, 16 more create contexts", busy.looks.all(), {}}},
              {{"median", 0.5}, {"p99", 0.99}, {"worst", 1}},
              "first"};
  return table;
}

} // namespace gputest::benchmarks
