// SPDX-License-Identifier: BSD-3-Clause
#include "insights/declarations.hpp"

#include <algorithm>
#include <set>
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
  if (!of.exact || of.known.empty()) {
    return Verdict::unknown; // the test may need more than was seen
  }
  // What others could have of it: a test that is small already shares the device with everything.
  const auto advised = advised_bytes(of.most());
  const bool matters = held > (256_MiB).count() && held - std::min(held, advised.count()) >= (256_MiB).count();
  return matters && advised.count() * 2 <= held ? Verdict::under : Verdict::fits;
}

/// What a run says of its tests, and of its entries as a whole. Each attempt has to pass.
class RunResults {
public:
  explicit RunResults(const RunLog& log) : log_{log} {
    const auto note = [&](const std::string& entry, const std::string& test, bool passed) {
      auto& all_of_test = passed_.emplace(std::pair{entry, test}, true).first->second;
      all_of_test = all_of_test && passed;
      auto& all = all_passed_.emplace(entry, true).first->second;
      all = all && passed;
    };
    for (const auto& test : log.tests) {
      note(test.entry, test.test, test.result == "passed");
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
    for (const auto& test : log.tests) {
      has_tests_.insert(test.entry);
      if (const auto point = test.test.find('.'); point != std::string::npos) {
        suites_[{test.entry, test.test.substr(0, point)}].push_back(&test);
      }
    }
  }

  /// Whether all that the lease was for passed, so that it used all that it needs. A lease of a suite, and of a program
  /// that has no tests, has no result of its own, so that of each test of its entry counts.
  [[nodiscard]] bool passed(const LoggedLease& lease) const {
    if (const auto own = passed_.find({lease.entry, lease.test}); own != passed_.end()) {
      return own->second;
    }
    const auto all = all_passed_.find(lease.entry);
    const bool has_none = lease.test.empty() || is_of_suite(lease) || has_tests_.count(lease.entry) == 0;
    return has_none && all != all_passed_.end() && all->second;
  }

  [[nodiscard]] bool is_of_suite(const LoggedLease& lease) const {
    return suites_.count({lease.entry, lease.test}) != 0;
  }

  /// The tests that the lease was for.
  [[nodiscard]] std::set<std::string> tests_of(const LoggedLease& lease) const {
    std::set<std::string> names;
    if (const auto suite = suites_.find({lease.entry, lease.test}); suite != suites_.end()) {
      for (const auto* const test : suite->second) {
        names.insert(test->test);
      }
    } else {
      names.insert(lease.test);
    }
    return names;
  }

  /// The entries that ran as ctest started them, in which all tests passed, and each use of the entry's own size is
  /// known: every `is_known` lease.
  template <class IsKnown>
  [[nodiscard]] std::map<std::string, bool> entries(const IsKnown& is_known) const {
    std::map<std::string, bool> entries;
    const auto note = [&](const std::string& entry, bool is_good) {
      auto& all = entries.emplace(entry, !log_.folder.empty()).first->second;
      all = all && is_good;
    };
    for (const auto& process : log_.processes) {
      if (!process.under_a_lease) {
        note(process.entry, process.exit == 0 && process.all_tests);
      }
    }
    for (const auto& [entry, passed] : all_passed_) {
      note(entry, passed);
    }
    for (const auto& skip : log_.skips) {
      note(skip.entry, false);
    }
    for (const auto& lease : log_.leases) {
      note(lease.entry, lease.declared_by != "entry" || is_known(lease));
    }
    return entries;
  }

  /// A test by which its lease can be known, or that of its suite, by entry and test or suite.
  [[nodiscard]] std::map<std::pair<std::string, std::string>, const LoggedTest*> tests() const {
    std::map<std::pair<std::string, std::string>, const LoggedTest*> tests;
    for (const auto& test : log_.tests) {
      tests[{test.entry, test.test}] = &test;
      tests[{test.entry, test.test.substr(0, test.test.find('.'))}] = &test;
    }
    return tests;
  }

private:
  const RunLog& log_;
  std::map<std::pair<std::string, std::string>, bool> passed_; ///< by entry and test
  std::map<std::string, bool> all_passed_;                     ///< by entry
  std::set<std::string> has_tests_;                            ///< entries
  std::map<std::pair<std::string, std::string>, std::vector<const LoggedTest*>> suites_;
};

/// The executables as they were in their newest run.
class Programs {
public:
  void note(const RunLog& run) {
    for (auto lease = run.leases.rbegin(); lease != run.leases.rend(); ++lease) {
      programs_.emplace(lease->program.path, lease->program);
    }
  }

  [[nodiscard]] bool is_newest(const LoggedProgram& program) const {
    const auto& newest = programs_.at(program.path);
    return !program.path.empty() && program.bytes == newest.bytes && program.modified == newest.modified;
  }

private:
  std::map<std::string, LoggedProgram> programs_;
};

/// Whether an earlier test of the process had left memory, which this one may have used in place of its own.
bool is_beside_kept_memory(const LoggedUse& use) { return use.kept_bytes.value_or(0) > 0; }

/// Whether the lease shows all that its tests need: it was measured exactly, not beside memory that others had left,
/// they passed, and their executable is still the same.
bool is_known(const LoggedLease& lease, const RunResults& results, const Programs& programs) {
  return lease.evidence == "exact" && !lease.uses.empty() &&
         std::all_of(lease.uses.begin(), lease.uses.end(),
                     [](const LoggedUse& use) { return use.kept_bytes && !is_beside_kept_memory(use); }) &&
         results.passed(lease) && programs.is_newest(lease.program);
}

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

std::string size_literal(Bytes bytes, const std::string& between) {
  const auto mib = bytes.count() >> 20U;
  return mib % 1024 == 0 ? std::to_string(mib / 1024) + between + "GiB" : std::to_string(mib) + between + "MiB";
}

std::vector<Declaration> declarations_of(const std::vector<const RunLog*>& runs) {
  std::map<std::pair<std::string, std::string>, Declaration> by_test;
  std::map<std::string, bool> entries; // whether in its newest run all was measured
  Programs programs;
  for (const auto* const run : runs) { // the newest first: what it declares counts
    const RunResults results{*run};
    programs.note(*run);
    const auto tests = results.tests();
    entries.merge(results.entries([&](const LoggedLease& lease) { return is_known(lease, results, programs); }));
    std::map<std::string, std::string> models;
    for (const auto& device : run->devices) {
      models[device.uuid] = device.name;
    }
    std::set<Declaration*> measured_now;
    std::set<std::pair<std::string, std::string>> of_run;
    for (const auto& lease : run->leases) {
      const auto key = std::pair{lease.entry, lease.test};
      const bool is_new = by_test.count(key) == 0;
      auto& of = by_test[key];
      if (is_new) {
        of.entry = lease.entry;
        of.test = lease.test;
        of.exact = true;
        of.said_by = lease.declared_by;
        of.program = lease.program.path;
        of_run.insert(key);
      }
      if (of_run.count(key) != 0) { // the test's newest run
        of.leased = std::max(of.leased, lease.bytes);
        of.declared = std::max(of.declared, lease.declared_bytes);
        of.memory_class = lease.memory_class;
        of.whole_devices = of.whole_devices || lease.whole_devices;
        of.said_by = of.said_by == lease.declared_by ? of.said_by : "";
        if (const auto test = tests.find(key); test != tests.end()) {
          of.declared_for = test->second->declared_for;
          of.declared_in = test->second->declared_in;
          of.declared_line = test->second->declared_line;
          of.file = test->second->file;
          of.line = test->second->line;
        }
      }
      for (const auto& use : lease.uses) {
        auto& most = of.measured[models[use.device]];
        most = std::max(most, use.peak_bytes);
        of.exact = of.exact && lease.evidence == "exact" && results.passed(lease);
        of.sampled = of.sampled || lease.evidence != "exact" || is_beside_kept_memory(use);
        measured_now.insert(&of);
      }
      for (const auto& device : run->devices) {
        if (std::find(lease.devices.begin(), lease.devices.end(), device.uuid) != lease.devices.end()) {
          const auto usable = device.usable_bytes > 0 ? device.usable_bytes : device.bytes;
          of.most_there = std::max(of.most_there, usable - std::min(usable, lease.overhead_bytes));
        }
      }
      of.of_suite = of.of_suite || results.is_of_suite(lease);
      if (is_known(lease, results, programs)) {
        of.known.merge(results.tests_of(lease));
      }
    }
    for (auto* const of : measured_now) {
      ++of->runs;
    }
  }
  std::vector<Declaration> declarations;
  for (auto& [key, of] : by_test) {
    of.exact = of.exact && !of.measured.empty();
    of.is_entry_known = entries.at(of.entry);
    of.verdict = verdict_on(of);
    if (of.verdict == Verdict::over && (of.most_there == 0 || of.needed().count() <= of.most_there)) {
      of.advised = of.needed();
    } else if (of.verdict == Verdict::under) {
      of.advised = advised_bytes(of.most());
    }
    declarations.push_back(std::move(of));
  }
  std::stable_sort(declarations.begin(), declarations.end(), [](const Declaration& a, const Declaration& b) {
    const auto rank = [](const Declaration& of) {
      return of.verdict == Verdict::over      ? 0
             : of.verdict == Verdict::under   ? 1
             : of.verdict == Verdict::unknown ? 2
                                              : 3;
    };
    return rank(a) != rank(b) ? rank(a) < rank(b) : distance(a) > distance(b);
  });
  return declarations;
}

} // namespace gputest::insights
