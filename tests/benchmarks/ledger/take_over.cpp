// SPDX-License-Identifier: BSD-3-Clause
#include "child.hpp"
#include "clock.hpp"
#include "contestant.hpp"
#include "experiments.hpp"
#include "random_pause.hpp"
#include "shared.hpp"

#include <unistd.h>

#include <atomic>
#include <stdexcept>

namespace gputest::benchmarks {

namespace {

/// Who has not taken over within this never does: twenty times the poller's sleep.
constexpr std::chrono::seconds bound{1};
constexpr std::chrono::seconds limit{10};
constexpr std::size_t most_failures = 3;

struct Scene {
  Gate held, ready, wait, waited;
  std::atomic<bool> asks{false};
  std::int64_t acquired_at = 0;
};

void be_heir(const Contestant& contestant, const std::string& place, Scene& scene) {
  const auto lock = contestant.open(place);
  lock->acquire(); // once for nothing, so that a fork's first writes to its memory are not measured
  lock->release();
  scene.ready.open();
  scene.wait.pass();
  scene.asks = true;
  lock->acquire();
  scene.acquired_at = now_ns();
  scene.waited.open();
  ::pause();
}

void be_victim(const Contestant& contestant, const std::string& place, Scene& scene) {
  const auto lock = contestant.open(place);
  lock->acquire();
  scene.held.open();
  ::pause();
}

void must_pass(Gate& gate, const std::string& name) {
  if (!gate.pass_within(limit)) {
    throw std::runtime_error{name + " was not had within 10 s, though free"};
  }
}

/// Nanoseconds, or less than 0 if nobody took over within the bound.
std::int64_t take_over(const Contestant& contestant, const std::string& place) {
  const Shared<Scene> scene;
  const Child heir{[&] { be_heir(contestant, place, *scene.begin()); }};
  must_pass(scene->ready, contestant.name);
  const Child victim{[&] { be_victim(contestant, place, *scene.begin()); }};
  must_pass(scene->held, contestant.name);
  scene->wait.open();
  while (!scene->asks) {
    std::this_thread::yield();
  }
  heir.wait_until_asleep();
  random_pause();
  const std::int64_t killed_at = now_ns();
  victim.kill();
  return scene->waited.pass_within(bound) ? scene->acquired_at - killed_at : -1;
}

} // namespace

Table measure_take_over(const std::string& folder, int repeats) {
  Table table{"take_over", "Take-over after SIGKILL of the holder (x pthread: the robust one)",
              Table::Unit::nanoseconds, empty_rows()};
  auto places = make_places(folder, "take_over");
  std::vector<std::size_t> failures(places.size());
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (failures[i] == most_failures) {
        continue;
      }
      const std::int64_t taken_ns = take_over(contestants()[i], places[i]);
      if (taken_ns >= 0) {
        table.rows[i].samples.push_back(static_cast<double>(taken_ns));
        continue;
      }
      ++failures[i];
      places[i] += "+"; // a fresh one: this one stays locked
      contestants()[i].make(places[i]);
    }
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (failures[i] > 0) {
      table.rows[i].remark = "not within 1 s, " + std::to_string(failures[i]) + " times of " +
                             std::to_string(failures[i] + table.rows[i].samples.size());
    }
  }
  return table;
}

} // namespace gputest::benchmarks
