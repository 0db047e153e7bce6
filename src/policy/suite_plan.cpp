// SPDX-License-Identifier: BSD-3-Clause
#include "policy/suite_plan.hpp"

#include "policy/admission.hpp"
#include "policy/heap_cost.hpp"
#include "policy/large_policy.hpp"
#include "policy/memory_request.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace gputest::policy {

namespace {

constexpr PlannedSeconds never{std::numeric_limits<double>::infinity()};

/// What a test wants of the ledger.
struct Wish {
  MemoryRequest memory;
  Bytes overhead;
  DeviceMask candidates = 0;
  unsigned gpus = 1;

  friend bool operator<(const Wish& a, const Wish& b) {
    const auto key = [](const Wish& w) {
      return std::tuple{w.memory.bytes.count(), w.memory.medium_lock, w.memory.exclusive,
                        w.overhead.count(),     w.candidates,         w.gpus};
    };
    return key(a) < key(b);
  }
};

/// One suite on one machine, from start to end.
class Simulation {
public:
  Simulation(const std::vector<PlannedTest>& tests, const PlannedMachine& machine)
      : tests_{tests}, machine_{machine}, wishes_(tests.size()), state_(tests.size(), State::pending) {
    plan_.runs.resize(tests.size());
    for (const auto& device : machine.devices) {
      snapshot_.devices.push_back(
          {device.free.count(), 0, device.facts.compute_mode == ComputeMode::exclusive_process});
    }
    for (std::size_t i = 0; i < tests.size(); ++i) {
      plan_.runs[i].why_not = tests[i].disabled ? "disabled" : find_wish(i);
    }
    std::map<Wish, std::size_t> kinds;
    for (const auto& wish : wishes_) {
      kind_of_.push_back(wish ? kinds.try_emplace(*wish, kinds.size()).first->second : 0);
    }
    without_room_.resize(kinds.size());
    order_tests();
  }

  SuitePlan run() {
    while (start_what_can() || pass_time()) {
    }
    plan_.time = now_;
    find_bounds();
    return std::move(plan_);
  }

private:
  enum class State { pending, waiting, running, ended };

  /// Why a test does not run; empty if it does.
  std::string find_wish(std::size_t index) {
    const auto& test = tests_[index];
    if (!test.request) {
      return "";
    }
    const auto& request = *test.request;
    auto& wish = wishes_[index].emplace();
    wish.gpus = static_cast<unsigned>(request.gpus);
    if (machine_.devices.empty()) {
      return "there is no GPU";
    }
    if (request.memory_class == MemoryClass::large &&
        decide_large(test.large, machine_.jobs > 1 && !test.serial ? RunMode::parallel : RunMode::serial) ==
            LargeDecision::exclude) {
      return "large, and excluded while others run";
    }
    Bytes smallest = machine_.devices.front().free;
    Bytes largest;
    for (const auto& device : machine_.devices) {
      smallest = std::min(smallest, device.free);
      largest = std::max(largest, device.free);
    }
    wish.memory = to_memory_request(request, smallest);
    wish.overhead = machine_.context + heap_cost(request.heap);
    std::string lacks;
    for (std::size_t i = 0; i < machine_.devices.size(); ++i) {
      const auto& device = machine_.devices[i];
      const auto missing = lacking(request.capabilities, device);
      if (!missing.empty()) {
        lacks = device.device.name + ": " + missing;
      } else if (wish.memory.bytes + wish.overhead <= device.free) {
        wish.candidates |= DeviceMask{1} << i;
      }
    }
    unsigned candidates = 0;
    for (std::size_t i = 0; i < machine_.devices.size(); ++i) {
      candidates += (wish.candidates >> i & 1U) != 0 ? 1U : 0U;
    }
    if (candidates >= wish.gpus) {
      return "";
    }
    if (machine_.devices.size() < wish.gpus) {
      return "needs " + std::to_string(wish.gpus) + " GPUs";
    }
    return lacks.empty() ? "needs " + to_string(wish.memory.bytes + wish.overhead) + ", more than a GPU has (" +
                               to_string(largest) + ")"
                         : lacks;
  }

  /// As ctest orders them: first what others come after, then those with the largest cost. At -j1 as they are listed.
  void order_tests() {
    order_.resize(tests_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    if (machine_.jobs == 1) {
      return;
    }
    std::vector<std::size_t> depth(tests_.size(), 0);
    for (std::size_t round = 0; round < tests_.size(); ++round) { // a circle would never end by itself
      bool changed = false;
      for (std::size_t i = 0; i < tests_.size(); ++i) {
        for (const auto before : tests_[i].after) {
          if (depth[before] < depth[i] + 1 && depth[i] < tests_.size()) {
            depth[before] = depth[i] + 1;
            changed = true;
          }
        }
      }
      if (!changed) {
        break;
      }
    }
    const auto key = [&](std::size_t i) { return std::pair{depth[i], cost_of(i)}; };
    std::stable_sort(order_.begin(), order_.end(), [&](auto a, auto b) { return key(a) > key(b); });
  }

  /// Where CTest schedules, gputest gives tests a COST that need more than an eighth of a device
  /// (resource_groups.cmake).
  [[nodiscard]] double cost_of(std::size_t index) const {
    const auto& test = tests_[index];
    const auto& wish = wishes_[index];
    if (test.cost || !machine_.scheduled || !wish || !plan_.runs[index].why_not.empty()) {
      return test.cost.value_or(test.time.count());
    }
    std::uint64_t largest = 0;
    for (const auto& device : machine_.devices) {
      largest = std::max(largest, device.free.count());
    }
    const auto bytes = wish->memory.exclusive ? largest : (wish->memory.bytes + wish->overhead).count();
    return bytes > largest / 8 ? static_cast<double>(bytes >> 20U) : test.time.count();
  }

  [[nodiscard]] unsigned jobs_of(std::size_t index) const {
    return tests_[index].serial ? machine_.jobs : std::min(tests_[index].processors, machine_.jobs);
  }

  [[nodiscard]] bool may_start(std::size_t index) const {
    const auto& test = tests_[index];
    if (jobs_in_use_ + jobs_of(index) > machine_.jobs) {
      return false;
    }
    const bool locked = std::any_of(test.locks.begin(), test.locks.end(),
                                    [&](const auto& lock) { return locks_in_use_.count(lock) != 0; });
    return !locked && std::all_of(test.after.begin(), test.after.end(),
                                  [&](std::size_t before) { return state_[before] == State::ended; });
  }

  /// Whether a test started, or got its memory.
  bool start_what_can() {
    bool started = grant_waiting();
    std::fill(without_room_.begin(), without_room_.end(), false);
    for (auto position = order_.begin(); position != order_.end() && jobs_in_use_ < machine_.jobs;) {
      const auto index = *position;
      const auto& wish = wishes_[index];
      const bool wants_memory = wish && plan_.runs[index].why_not.empty();
      if (!may_start(index) || (wants_memory && without_room_[kind_of_[index]])) {
        ++position;
        continue;
      }
      if (wants_memory && machine_.scheduled && !fits_now(*wish)) {
        without_room_[kind_of_[index]] = true;
        ++position;
        continue;
      }
      start(index);
      position = order_.erase(position);
      started = true;
    }
    if (!started && active_.empty() && !order_.empty()) { // they wait for one another in a circle
      start(order_.front());
      order_.erase(order_.begin());
      started = true;
    }
    return started;
  }

  [[nodiscard]] Claim entering(const Wish& wish) {
    Claim claim;
    claim.stage = Stage::entering;
    claim.ticket = ++ticket_;
    claim.candidates = wish.candidates;
    claim.gpus = wish.gpus;
    claim.overhead_bytes = wish.overhead.count();
    claim.largest_bytes = wish.memory.bytes.count();
    claim.whole_devices = wish.memory.exclusive;
    return claim;
  }

  /// Takes the claim at `position` as far as it comes now. Whether it came further.
  bool advance(std::size_t position, const Wish& wish) {
    auto& claim = snapshot_.claims[position];
    bool further = false;
    if (claim.stage == Stage::entering) {
      const auto decision = decide(snapshot_, position);
      if (const auto* grant = std::get_if<Grant>(&decision)) {
        claim.stage = Stage::waiting;
        claim.devices = claim.wanted = grant->devices;
        claim.ticket = ++ticket_;
        claim.lease_bytes = wish.memory.bytes.count();
        claim.exclusive = wish.memory.exclusive;
        claim.medium_lock = wish.memory.medium_lock;
        further = true;
      }
    }
    if (claim.stage == Stage::waiting && std::holds_alternative<Grant>(decide(snapshot_, position))) {
      claim.stage = Stage::holding;
      further = true;
    }
    return further;
  }

  bool fits_now(const Wish& wish) {
    snapshot_.claims.push_back(entering(wish));
    advance(snapshot_.claims.size() - 1, wish);
    const bool fits = snapshot_.claims.back().stage == Stage::holding;
    snapshot_.claims.pop_back();
    return fits;
  }

  void start(std::size_t index) {
    auto& run = plan_.runs[index];
    run.start = run.begin = run.end = now_;
    if (!run.why_not.empty()) {
      state_[index] = State::ended; // in no time
      return;
    }
    jobs_in_use_ += jobs_of(index);
    locks_in_use_.insert(tests_[index].locks.begin(), tests_[index].locks.end());
    active_.push_back({index, never});
    snapshot_.claims.push_back(wishes_[index] ? entering(*wishes_[index]) : Claim{});
    state_[index] = State::waiting;
    if (!wishes_[index]) {
      begin(active_.size() - 1);
    } else {
      grant_waiting();
    }
  }

  void begin(std::size_t position) {
    auto& active = active_[position];
    auto& run = plan_.runs[active.test];
    state_[active.test] = State::running;
    run.begin = now_;
    run.devices = snapshot_.claims[position].devices;
    plan_.waiting += (now_ - run.start) * jobs_of(active.test);
    auto from = now_;
    if (wishes_[active.test]) {
      from = std::max(now_, contexts_free_at_);
      contexts_free_at_ = from + std::min(machine_.context_time, tests_[active.test].time);
    }
    active.end = from + tests_[active.test].time;
  }

  /// In the order of arrival.
  bool grant_waiting() {
    bool any = false;
    for (std::size_t i = 0; i < active_.size(); ++i) {
      if (state_[active_[i].test] == State::waiting) {
        any = advance(i, *wishes_[active_[i].test]) || any;
        if (snapshot_.claims[i].stage == Stage::holding) {
          begin(i);
        }
      }
    }
    return any;
  }

  /// To the next end of a test. False if nothing runs.
  bool pass_time() {
    if (active_.empty()) {
      return false;
    }
    const auto next =
        std::min_element(active_.begin(), active_.end(), [](const auto& a, const auto& b) { return a.end < b.end; });
    if (next->end == never) {
      return false;
    }
    now_ = next->end;
    const auto test = next->test;
    plan_.runs[test].end = now_;
    state_[test] = State::ended;
    jobs_in_use_ -= jobs_of(test);
    for (const auto& lock : tests_[test].locks) {
      locks_in_use_.erase(lock);
    }
    snapshot_.claims.erase(snapshot_.claims.begin() + (next - active_.begin()));
    active_.erase(next);
    return true;
  }

  [[nodiscard]] PlanBound longest() const {
    PlanBound bound{PlanBound::Kind::longest, {}, {}};
    std::vector<PlannedSeconds> until(tests_.size());
    // Ends are in the order of time, so what a test comes after is summed up before it.
    std::vector<std::size_t> by_end(tests_.size());
    std::iota(by_end.begin(), by_end.end(), std::size_t{0});
    std::stable_sort(by_end.begin(), by_end.end(),
                     [&](auto a, auto b) { return plan_.runs[a].end < plan_.runs[b].end; });
    for (const auto index : by_end) {
      PlannedSeconds before{};
      for (const auto other : tests_[index].after) {
        before = std::max(before, until[other]);
      }
      until[index] = before + (plan_.runs[index].why_not.empty() ? tests_[index].time : PlannedSeconds{});
      if (until[index] > bound.time) {
        bound.time = until[index];
        bound.test = tests_[index].name;
      }
    }
    return bound;
  }

  void find_bounds() {
    PlannedSeconds work{};
    PlannedSeconds contexts{};
    double byte_seconds = 0;
    double capacity = 0;
    for (const auto& device : machine_.devices) {
      capacity += static_cast<double>(device.free.count());
    }
    for (std::size_t i = 0; i < tests_.size(); ++i) {
      if (!plan_.runs[i].why_not.empty()) {
        continue;
      }
      work += tests_[i].time * jobs_of(i);
      if (!wishes_[i]) {
        continue;
      }
      contexts += std::min(machine_.context_time, tests_[i].time);
      double bytes = 0;
      for (std::size_t d = 0; d < machine_.devices.size(); ++d) {
        if ((plan_.runs[i].devices >> d & 1U) != 0) {
          const auto& wish = *wishes_[i];
          bytes += static_cast<double>(wish.memory.exclusive ? machine_.devices[d].free.count()
                                                             : (wish.memory.bytes + wish.overhead).count());
        }
      }
      byte_seconds += bytes * tests_[i].time.count();
    }
    plan_.bounds = {longest(),
                    {PlanBound::Kind::jobs, work / machine_.jobs, {}},
                    {PlanBound::Kind::memory, PlannedSeconds{capacity > 0 ? byte_seconds / capacity : 0}, {}},
                    {PlanBound::Kind::contexts, contexts, {}}};
    std::stable_sort(plan_.bounds.begin(), plan_.bounds.end(),
                     [](const auto& a, const auto& b) { return a.time > b.time; });
  }

  struct Active {
    std::size_t test;
    PlannedSeconds end;
  };

  const std::vector<PlannedTest>& tests_;
  const PlannedMachine& machine_;
  std::vector<std::optional<Wish>> wishes_;
  std::vector<std::size_t> kind_of_; ///< by test: tests of one kind have the same wish
  std::vector<bool> without_room_;   ///< by kind: there is none for it now
  std::vector<State> state_;
  std::vector<std::size_t> order_; ///< of those that have not been started
  std::vector<Active> active_;     ///< by position of the claim in `snapshot_`
  Snapshot snapshot_;
  std::set<std::string> locks_in_use_;
  unsigned jobs_in_use_ = 0;
  std::uint64_t ticket_ = 0;
  PlannedSeconds now_{};
  PlannedSeconds contexts_free_at_{};
  SuitePlan plan_;
};

} // namespace

SuitePlan plan_suite(const std::vector<PlannedTest>& tests, const PlannedMachine& machine) {
  return Simulation{tests, machine}.run();
}

} // namespace gputest::policy
