// SPDX-License-Identifier: BSD-3-Clause
#include "insights/run_summary.hpp"

#include "core/policy/text.hpp"
#include "insights/entry_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace gputest::insights {

namespace {

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (auto at = what.empty() ? std::string::npos : text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

double held(const LoggedLease& lease) { return std::max(0.0, lease.ended - lease.begun); }

std::string in_words(double seconds) {
  return seconds < 100 ? fmt::format("{:.1f} s", seconds) : fmt::format("{:.0f} min", seconds / 60);
}

} // namespace

RunSummary summarise(const RunLog& log) {
  RunSummary sums;
  for (const auto& result : results_of(log)) {
    ++sums.tests;
    ++(result.result == "passed"    ? sums.passed
       : result.result == "failed"  ? sums.failed
       : result.result == "skipped" ? sums.skipped
       : result.result == "running" ? sums.running
                                    : sums.unknown);
  }
  sums.wall = log.ended - log.begun;
  sums.open_ended =
      log.running ||
      (!log.end_is_known && std::any_of(log.processes.begin(), log.processes.end(), [&](const LoggedProcess& process) {
        return process.open_ended && process.ended >= log.ended;
      }));
  for (const auto& process : log.processes) {
    sums.waited += process.begun - process.asked;
  }
  for (const auto& wait : log.waits) {
    sums.waited += wait.in_vain ? wait.waited : 0; // others are in what was granted
  }
  double leased = 0;
  double measured = 0;
  double used = 0;
  for (const auto& lease : log.leases) {
    sums.waited += lease.begun - lease.asked;
    leased += static_cast<double>(lease.bytes) * static_cast<double>(lease.devices.size()) * held(lease);
    for (const auto& [device, peak] : lease.peaks) {
      measured += static_cast<double>(lease.bytes) * held(lease);
      used += static_cast<double>(peak) * held(lease);
    }
  }
  double capacity = 0;
  for (const auto& device : log.devices) {
    capacity += static_cast<double>(device.bytes) * sums.wall;
  }
  if (capacity > 0) {
    sums.leased = leased / capacity;
    sums.measured = measured / capacity;
    sums.used = measured > 0 ? used / capacity : -1;
  }
  return sums;
}

std::vector<WaitCause> causes_of_waits(const RunLog& log) {
  std::map<std::string, WaitCause> by_name;
  for (const auto& wait : log.waits) {
    auto blockers = wait.blockers;
    if (wait.external) {
      blockers.emplace_back("programs that are not on the ledger");
    }
    for (const auto& blocker : blockers) {
      auto& cause = by_name[blocker];
      cause.name = blocker;
      cause.seconds += wait.waited / static_cast<double>(blockers.size());
      ++cause.waits;
    }
  }
  std::vector<WaitCause> causes;
  for (auto& [name, cause] : by_name) {
    causes.push_back(std::move(cause));
  }
  std::stable_sort(causes.begin(), causes.end(),
                   [](const WaitCause& a, const WaitCause& b) { return a.seconds > b.seconds; });
  return causes;
}

std::vector<SkipGroup> skips_of(const RunLog& log) {
  std::map<std::string, SkipGroup> by_reason;
  std::set<std::pair<std::string, std::string>> seen;
  const auto note = [&](const std::string& entry, const std::string& test, const std::string& reason) {
    if (!seen.insert({entry, test}).second) {
      return;
    }
    const auto name = full_name(entry, test);
    auto general = reason;
    if (const auto regex = policy::exact_regex(entry); regex.size() > 2) { // in a command
      general = replaced(general, regex, "…");
    }
    general = replaced(replaced(general, name, "…"), test, "…");
    auto& group = by_reason[general];
    group.reason = group.tests.empty() ? reason : group.reason;
    group.tests.push_back(name);
  };
  for (const auto& skip : log.skips) {
    note(skip.entry, skip.test, skip.reason);
  }
  for (const auto& entry : log.skipped) {
    note(entry, "", "its output has its SKIP_REGULAR_EXPRESSION");
  }
  for (const auto& test : log.tests) {
    if (test.result == "skipped") {
      note(test.entry, test.test, test.reason.empty() ? "no reason given" : test.reason);
    }
  }
  std::vector<SkipGroup> groups;
  for (auto& [reason, group] : by_reason) {
    groups.push_back(std::move(group));
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const SkipGroup& a, const SkipGroup& b) { return a.tests.size() > b.tests.size(); });
  return groups;
}

std::vector<std::string> what_held_it_back(const RunLog& log) {
  const auto sums = summarise(log);
  std::vector<std::pair<double, std::string>> found; // by the share of the run
  if (sums.wall <= 0) {
    return {};
  }
  if (sums.waited > 0.05 * sums.wall) {
    auto text = fmt::format("Tests waited for {} in all.", in_words(sums.waited));
    if (const auto causes = causes_of_waits(log); !causes.empty() && causes.front().seconds > 0) {
      text += fmt::format(" The largest part was for {}: {}.", causes.front().name, in_words(causes.front().seconds));
    }
    found.emplace_back(sums.waited / sums.wall, text);
  }
  const auto results = results_of(log);
  const auto longest = std::max_element(
      results.begin(), results.end(), [](const EntryResult& a, const EntryResult& b) { return a.seconds < b.seconds; });
  if (results.size() > 1 && longest->seconds > 0.3 * sums.wall) {
    found.emplace_back(longest->seconds / sums.wall, fmt::format("The longest test, {}, took {} of {}.", longest->entry,
                                                                 in_words(longest->seconds), in_words(sums.wall)));
  }
  double whole = 0;
  for (const auto& lease : log.leases) {
    whole += lease.whole_devices ? held(lease) * static_cast<double>(lease.devices.size()) : 0;
  }
  if (const double share = log.devices.empty() ? 0 : whole / static_cast<double>(log.devices.size()) / sums.wall;
      share > 0.3) {
    found.emplace_back(share, fmt::format("Tests that take a whole GPU held {:.0f} % of the GPUs' time. No other test "
                                          "runs beside them, whatever -j is.",
                                          share * 100));
  }
  double running = 0;
  for (const auto& process : log.processes) {
    running += process.under_a_lease ? 0 : std::max(0.0, process.ended - process.asked);
  }
  running /= sums.wall;
  if (log.jobs && running < 0.8 * static_cast<double>(*log.jobs)) {
    const auto share = running / static_cast<double>(*log.jobs);
    found.emplace_back(
        1 - share,
        fmt::format("GPU tests kept ctest's jobs (-j{}) busy for {:.0f} % of the time{}. A test that ctest itself held "
                    "back while others of its size ran does not count as waiting.",
                    *log.jobs, share * 100,
                    sums.leased < 0 ? "" : fmt::format(", and {:.0f} % of the memory was leased", sums.leased * 100)));
  }
  if (sums.used >= 0 && sums.measured > 0.3 && sums.used < 0.5 * sums.measured) {
    found.emplace_back(
        sums.measured - sums.used,
        fmt::format("Measured tests leased {:.0f} % of the memory and used {:.0f} %. \"gputest needs\" names those "
                    "that ask for too much.",
                    sums.measured * 100, sums.used * 100));
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> texts;
  for (auto& [share, text] : found) {
    texts.push_back(std::move(text));
  }
  if (texts.empty()) {
    texts.emplace_back("Nothing stands out.");
  }
  return texts;
}

} // namespace gputest::insights
