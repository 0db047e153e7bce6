// SPDX-License-Identifier: BSD-3-Clause
#include "insights/declarations.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace gputest::insights {

namespace {

using namespace literals;
using Verdict = Declaration::Verdict;

/// What it could use. A lease of a whole device names no size, and is never too small.
std::uint64_t held_by(const Declaration& of) {
  return of.whole_devices ? std::max({of.leased, of.most_there, of.most()}) : of.leased;
}

Verdict verdict_on(const Declaration& of) {
  if (of.measured.empty()) {
    return Verdict::unknown;
  }
  const auto held = held_by(of);
  constexpr Bytes tolerated = 2_MiB; // as for the test itself
  if (of.most() > held + tolerated.count()) {
    return Verdict::over;
  }
  if (!of.exact) {
    return Verdict::unknown; // the test may need more than was seen
  }
  // What others could have of it: a test that is small already shares the device with everything.
  const auto advised = advised_bytes(of.most());
  const bool matters = held > (256_MiB).count() && held - std::min(held, advised.count()) >= (256_MiB).count();
  return matters && advised.count() * 2 <= held ? Verdict::under : Verdict::fits;
}

using EntryAndTest = std::pair<std::string, std::string>;

/// What a run says of its tests. Where an attempt cannot be told from others, each has to pass.
class RunResults {
public:
  explicit RunResults(const RunLog& log) {
    const auto note = [&](const std::string& entry, const std::string& test, bool passed) {
      for (auto* const all : {&passed_.emplace(EntryAndTest{entry, test}, true).first->second,
                              &all_passed_.emplace(entry, true).first->second}) {
        *all = *all && passed;
      }
    };
    for (const auto& test : log.tests) {
      note(test.entry, test.test, test.result == "passed");
      results_.emplace(EntryAndTest{test.entry, test.test}, &test);
      tests_[{test.entry, test.test}] = &test;
      if (const auto point = test.test.find('.'); point != std::string::npos) {
        suites_[{test.entry, test.test.substr(0, point)}] = &test;
      }
    }
    for (const auto& lease : log.leases) {
      if (lease.open_ended) {
        note(lease.entry, lease.test, false);
      }
    }
    for (const auto& process : log.processes) {
      if (!process.under_a_lease && (process.exit != 0 || all_passed_.count(process.entry) == 0)) {
        note(process.end_entry.empty() ? process.entry : process.end_entry, process.end_test, process.exit == 0);
      }
    }
  }

  /// How the attempt at a test ended that the lease was for; null: the log does not say it.
  [[nodiscard]] const LoggedTest* result_of(const LoggedLease& lease) const {
    const auto [first, last] = results_.equal_range({lease.entry, lease.test}); // in the order of the log
    const auto found = std::find_if(first, last, [&](const auto& result) {
      return result.second->pid == lease.pid && result.second->ended >= lease.begun;
    });
    return found == last ? nullptr : found->second;
  }

  /// Whether all that the lease was for passed, so that it used all that it needs. A lease of a suite, and of a program
  /// that has no tests, has no result of its own, so that of each test of its entry counts.
  [[nodiscard]] bool passed(const LoggedLease& lease) const {
    if (const auto* const own = result_of(lease)) {
      return own->result == "passed";
    }
    if (const auto own = passed_.find({lease.entry, lease.test}); own != passed_.end()) {
      return own->second;
    }
    const auto all = all_passed_.find(lease.entry);
    const auto first = tests_.lower_bound({lease.entry, ""});
    const bool has_tests = first != tests_.end() && first->first.first == lease.entry;
    return (lease.test.empty() || is_of_suite(lease) || !has_tests) && all != all_passed_.end() && all->second;
  }

  [[nodiscard]] bool is_of_suite(const LoggedLease& lease) const {
    return suites_.count({lease.entry, lease.test}) != 0;
  }

private:
  std::map<EntryAndTest, bool> passed_;
  std::map<std::string, bool> all_passed_; ///< by entry
  std::multimap<EntryAndTest, const LoggedTest*> results_;
  std::map<EntryAndTest, const LoggedTest*> tests_;
  std::map<EntryAndTest, const LoggedTest*> suites_; ///< a test by its suite
};

/// The most that one attempt at a test used of a device model.
struct Figure {
  std::uint64_t bytes = 0;
  bool known = true; ///< exact, of an attempt that passed
};

std::uint64_t distance(const Declaration& of) {
  const auto held = held_by(of);
  return of.most() > held ? of.most() - held : held - of.most();
}

} // namespace

std::uint64_t Declaration::most() const {
  std::uint64_t most = 0;
  for (const auto& [model, bytes] : measured) {
    most = std::max(most, bytes);
  }
  return most;
}

Bytes Declaration::needed() const {
  constexpr std::uint64_t mib = (1_MiB).count();
  return Bytes{(most() + mib - 1) / mib * mib};
}

Bytes advised_bytes(std::uint64_t used) {
  const std::uint64_t wanted = used + used / 20;
  const auto step = (wanted < (2_GiB).count() ? 64_MiB : wanted < (16_GiB).count() ? 256_MiB : 1_GiB).count();
  return Bytes{std::max<std::uint64_t>(1, (wanted + step - 1) / step) * step};
}

std::vector<Declaration> declarations_of(const std::vector<const RunLog*>& runs) {
  std::map<EntryAndTest, Declaration> by_test;
  std::map<const Declaration*, std::map<std::string, std::uint64_t>> known; // as Declaration::measured
  for (const auto* const run : runs) {
    const RunResults results{*run};
    std::set<const Declaration*> declared_now; // in the test's newest run, which counts
    std::set<const Declaration*> measured_now;
    std::map<std::tuple<const Declaration*, const LoggedTest*, std::string>, Figure> figures; // by attempt and model
    for (const auto& lease : run->leases) {
      const auto [found, is_new] = by_test.try_emplace({lease.entry, lease.test});
      auto& of = found->second;
      if (is_new) {
        of.entry = lease.entry;
        of.test = lease.test;
        declared_now.insert(&of);
      }
      if (declared_now.count(&of) != 0) {
        of.leased = std::max(of.leased, lease.bytes);
        of.declared = std::max(of.declared, lease.declared_bytes);
        of.memory_class = lease.memory_class;
        of.whole_devices = of.whole_devices || lease.whole_devices;
      }
      for (const auto& use : lease.uses) {
        const auto device = std::find_if(run->devices.begin(), run->devices.end(),
                                         [&](const LoggedDevice& each) { return each.uuid == use.device; });
        const auto model = device == run->devices.end() ? "" : device->name;
        auto& most = of.measured[model];
        most = std::max(most, use.peak_bytes);
        // The test may have used memory that an earlier one of the process had left, in place of its own.
        const bool is_bound = lease.evidence != "exact" || use.kept_bytes > 0;
        of.lower_bound = of.lower_bound || is_bound;
        auto& figure = figures[{&of, results.result_of(lease), model}];
        figure.bytes = std::max(figure.bytes, use.peak_bytes);
        figure.known = figure.known && !is_bound && results.passed(lease);
        of.runs += measured_now.insert(&of).second ? 1 : 0;
      }
      for (const auto& device : run->devices) {
        if (std::find(lease.devices.begin(), lease.devices.end(), device.uuid) != lease.devices.end()) {
          const auto usable = device.usable_bytes > 0 ? device.usable_bytes : device.bytes;
          of.most_there = std::max(of.most_there, usable - std::min(usable, lease.overhead_bytes));
        }
      }
    }
    for (const auto& [attempt, figure] : figures) {
      if (figure.known) {
        auto& most = known[std::get<0>(attempt)][std::get<2>(attempt)];
        most = std::max(most, figure.bytes);
      }
    }
  }
  std::vector<Declaration> declarations;
  for (auto& [key, of] : by_test) {
    of.exact = !of.measured.empty() && known[&of] == of.measured;
    of.lower_bound = of.lower_bound && !of.exact;
    of.verdict = verdict_on(of);
    if (of.verdict == Verdict::over && (of.most_there == 0 || of.needed().count() <= of.most_there)) {
      of.advised = of.needed();
    } else if (of.verdict == Verdict::under) {
      of.advised = advised_bytes(of.most());
    }
    declarations.push_back(std::move(of));
  }
  std::stable_sort(declarations.begin(), declarations.end(), [](const Declaration& a, const Declaration& b) {
    return a.verdict != b.verdict ? a.verdict < b.verdict : distance(a) > distance(b);
  });
  return declarations;
}

} // namespace gputest::insights
