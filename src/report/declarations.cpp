// SPDX-License-Identifier: BSD-3-Clause
#include "report/declarations.hpp"

#include "report/test_results.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace gputest::report {

namespace {

using namespace literals;
using Verdict = Declaration::Verdict;

Verdict verdict_on(const Declaration& of) {
  if (of.measured.empty()) {
    return Verdict::unknown;
  }
  constexpr Bytes tolerated = 2_MiB; // as for the test itself
  if (of.most() > of.leased + tolerated.count()) {
    return Verdict::over;
  }
  if (!of.exact) {
    return Verdict::unknown; // the test may have used more than the samples have shown
  }
  // What others could have of it: a test that is small already shares the device with everything.
  const auto advised = advised_bytes(of.most());
  const bool matters =
      of.leased > (256_MiB).count() && of.leased - std::min(of.leased, advised.count()) >= (256_MiB).count();
  return matters && advised.count() * 2 <= of.leased ? Verdict::under : Verdict::fits;
}

/// Whether the lease's test may have ended before it used all that it needs: it failed, or skipped itself. A lease of a
/// suite has no result of its own, so that of each test of its entry counts.
bool may_need_more(const std::vector<TestResult>& results, const LoggedLease& lease) {
  const auto name = full_name(lease.entry, lease.test);
  const auto may = [](const TestResult& of) { return of.result == "failed" || of.result == "skipped"; };
  const auto found = std::find_if(results.begin(), results.end(), [&](const auto& of) { return of.name == name; });
  if (found != results.end()) {
    return may(*found);
  }
  return std::any_of(results.begin(), results.end(), [&](const TestResult& of) {
    return may(of) && of.name.compare(0, lease.entry.size(), lease.entry) == 0;
  });
}

/// The suites of the tests that ran, by entry.
std::set<std::pair<std::string, std::string>> suites_of(const RunLog& run) {
  std::set<std::pair<std::string, std::string>> suites;
  for (const auto& test : run.tests) {
    if (const auto point = test.test.find('.'); point != std::string::npos) {
      suites.emplace(test.entry, test.test.substr(0, point));
    }
  }
  return suites;
}

std::uint64_t distance(const Declaration& of) {
  return of.most() > of.leased ? of.most() - of.leased : of.leased - of.most();
}

} // namespace

std::uint64_t Declaration::most() const {
  std::uint64_t most = 0;
  for (const auto& [model, bytes] : measured) {
    most = std::max(most, bytes);
  }
  return most;
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
  for (const auto* const run : runs) { // the newest first: what it declares counts
    const auto results = results_of(*run);
    const auto suites = suites_of(*run);
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
        of_run.insert(key);
      }
      if (of_run.count(key) != 0) { // the test's newest run
        of.leased = std::max(of.leased, lease.bytes);
        of.declared = std::max(of.declared, lease.declared_bytes);
        of.memory_class = lease.memory_class;
        of.whole_devices = of.whole_devices || lease.whole_devices;
      }
      for (const auto& use : lease.uses) {
        auto& most = of.measured[models[use.device]];
        most = std::max(most, use.peak_bytes);
        of.exact = of.exact && lease.evidence == "exact" && !may_need_more(results, lease);
        of.sampled = of.sampled || lease.evidence != "exact";
        measured_now.insert(&of);
      }
      for (const auto& device : run->devices) {
        if (std::find(lease.devices.begin(), lease.devices.end(), device.uuid) != lease.devices.end()) {
          const auto usable = device.usable_bytes > 0 ? device.usable_bytes : device.bytes;
          of.most_there = std::max(of.most_there, usable - std::min(usable, lease.overhead_bytes));
        }
      }
      of.of_suite = of.of_suite || suites.count(key) != 0;
    }
    for (auto* const of : measured_now) {
      ++of->runs;
    }
  }
  std::vector<Declaration> declarations;
  for (auto& [key, of] : by_test) {
    of.exact = of.exact && !of.measured.empty();
    of.verdict = verdict_on(of);
    if (of.verdict == Verdict::over || of.verdict == Verdict::under) {
      of.advised = advised_bytes(of.most());
      constexpr std::uint64_t mib = (1_MiB).count();
      if (const auto there = of.most_there / mib * mib; there >= of.most() && there > 0) {
        of.advised = std::min(of.advised, Bytes{there});
      }
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

} // namespace gputest::report
