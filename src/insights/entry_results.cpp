// SPDX-License-Identifier: BSD-3-Clause
#include "insights/entry_results.hpp"

#include "insights/entry_runs.hpp"

#include <algorithm>
#include <cstring>
#include <set>

namespace gputest::insights {

namespace {

std::vector<std::string> failed_tests(const EntryRun& run) {
  std::set<std::string> names;
  for (const auto* const test : run.tests) {
    if (test->result == "failed") {
      names.insert(test->test);
    }
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> why_failed(const EntryRun& run) {
  auto why = failed_tests(run);
  if (run.open_ended) {
    std::string last;
    for (const auto* const lease : run.leases) {
      last = lease->open_ended ? lease->test : last;
    }
    why.push_back("killed by a signal or a time limit, or ended by _exit()" + (last.empty() ? "" : ", in " + last));
  } else if (run.process != nullptr && run.process->signal != 0) {
    why.push_back("signal " + std::to_string(run.process->signal) + " (" + strsignal(run.process->signal) + ")");
  } else if (why.empty()) {
    const auto exit = run.process != nullptr ? run.process->exit.value_or(0) : 0;
    why.push_back(exit != 0
                      ? "exit code " + std::to_string(exit) + (run.tests.empty() ? "" : ", after its tests passed")
                      : "at its end, or by a property of its entry such as FAIL_REGULAR_EXPRESSION");
  }
  return why;
}

std::string result_in_log(const EntryRun& run) {
  if (run.running) {
    return "running";
  }
  if (run.skipped()) {
    return "skipped";
  }
  if (run.open_ended) {
    return "unknown";
  }
  // An entry may have several processes, such as workers of pytest-xdist.
  const bool failed = (run.process != nullptr && run.process->exit != 0) || !failed_tests(run).empty();
  return failed ? "failed" : "passed";
}

} // namespace

std::string full_name(const std::string& entry, const std::string& test) {
  return test.empty() || test == entry ? entry : entry.empty() ? test : entry + ": " + test;
}

std::vector<EntryResult> results_of(const RunLog& log) {
  std::vector<EntryResult> results;
  const auto runs = entry_runs(log);
  for (const auto& [entry, run] : runs) {
    EntryResult result{entry, result_in_log(run), -1, {}};
    if (log.failed) {
      result.result = log.failed->count(entry) != 0 ? "failed" : run.skipped() ? "skipped" : "passed";
    }
    if (result.result != "skipped" && !run.open_ended) {
      result.seconds = run.seconds();
    } else if (const auto known = log.seconds.find(entry); run.open_ended && known != log.seconds.end()) {
      result.seconds = std::max(0.0, known->second - run.waited);
    }
    if (result.result == "failed") {
      result.why = why_failed(run);
    }
    results.push_back(std::move(result));
  }
  for (const auto& entry : log.failed.value_or(std::set<std::string>{})) {
    if (runs.count(entry) == 0) {
      results.push_back({entry, "failed", -1, {"nothing of it is in the run log"}});
    }
  }
  return results;
}

std::string remark_on_results(const RunLog& log) {
  return log.folder.empty() || log.failed ? ""
         : log.running                    ? "ctest is still running (pid " + std::to_string(log.ctest_pid) +
                             "). These are the results up to now, without tests that have not started"
                       : "ctest's own results of this run are not in " + log.folder +
                             "/Testing/Temporary: it was interrupted, or has run again since. The results shown are "
                             "those of the run log";
}

} // namespace gputest::insights
