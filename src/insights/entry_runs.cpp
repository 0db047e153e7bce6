// SPDX-License-Identifier: BSD-3-Clause
#include "insights/entry_runs.hpp"

#include <gputest/outcome.hpp>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <set>

namespace gputest::insights {

namespace {

double begin_of(const LoggedTest& test) { return test.ended - test.seconds; }

/// The last process that ran only this entry. In a worker, other cases came before and after.
void find_processes(const RunLog& log, EntryRuns& runs) {
  std::set<std::int64_t> workers;
  for (const auto& process : log.processes) {
    if (process.worker) {
      workers.insert(process.pid);
    } else if (auto& run = runs[process.entry];
               !process.under_a_lease && (run.process == nullptr || run.process->begun <= process.begun)) {
      run.process = &process;
    }
  }
  for (const auto& test : log.tests) {
    auto& run = runs[test.entry];
    if (run.process != nullptr && workers.count(test.pid) != 0 && test.ended > run.process->ended) {
      run.process = nullptr; // a later attempt
    }
  }
}

/// Of the last attempt, `all` of the entry being in their order.
void choose_tests(EntryRun& run, const std::vector<const LoggedTest*>& all) {
  std::set<std::string> seen;
  for (auto test = all.rbegin(); test != all.rend(); ++test) {
    if (run.process != nullptr ? (*test)->ended >= run.process->begun
                               : (*test)->pid == all.back()->pid && seen.insert((*test)->test).second) {
      run.tests.insert(run.tests.begin(), *test);
    } else if ((*test)->result == "failed") {
      run.failed_before.insert((*test)->test);
    }
  }
}

/// Of the last attempt, whose process or tests are known.
void choose_leases(EntryRun& run, const std::vector<const LoggedLease*>& all) {
  for (const auto* const lease : all) {
    const auto is_its = [&] {
      if (run.process != nullptr) {
        return lease->pid == run.process->pid && lease->ended >= run.process->begun;
      }
      return run.tests.empty() ? lease == all.back()
                               : lease->pid == run.tests.front()->pid && lease->ended >= begin_of(*run.tests.front());
    };
    if (is_its()) {
      run.leases.push_back(lease);
    }
  }
}

void find_times(EntryRun& run) {
  bool is_first = true;
  const auto cover = [&](double begun, double ended) {
    run.begun = is_first ? begun : std::min(run.begun, begun);
    run.ended = is_first ? ended : std::max(run.ended, ended);
    is_first = false;
  };
  if (run.process != nullptr) {
    cover(run.process->asked, run.process->ended);
    run.waited += run.process->begun - run.process->asked;
  }
  for (const auto* const lease : run.leases) {
    cover(lease->asked, lease->ended);
    run.waited += lease->begun - lease->asked;
  }
  for (const auto* const test : run.tests) {
    cover(begin_of(*test), test->ended);
  }
}

/// Whether it is of this attempt.
bool is_of(const EntryRun& run, const LoggedWait& wait) {
  return run.process != nullptr ? run.process->pid == wait.pid && run.process->asked <= wait.noticed
                                : !run.tests.empty() && run.tests.front()->pid == wait.pid;
}

/// Their names, with why they have failed where the log says it.
std::vector<std::string> failed_tests(const EntryRun& run) {
  std::set<std::string> tests;
  for (const auto* const test : run.tests) {
    if (test->result == "failed") {
      const bool is_named = test->reason.find(test->test) != std::string::npos;
      tests.insert(is_named ? test->reason : test->test + (test->reason.empty() ? "" : ": " + test->reason));
    }
  }
  return {tests.begin(), tests.end()};
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
    const std::string earlier = "in an earlier attempt";
    if (exit != 0) {
      why.push_back("exit code " + std::to_string(exit) + (run.tests.empty() ? "" : ", after its tests passed"));
    } else if (run.failed_before.empty()) {
      why.push_back((run.ran_again ? earlier + ", " : "") +
                    "at its end, or by a property of its entry such as FAIL_REGULAR_EXPRESSION");
    }
    for (const auto& test : run.failed_before) {
      why.push_back(test + ", " + earlier);
    }
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

bool EntryRun::skipped() const {
  if (process != nullptr) {
    return process->exit == skipped_exit_code;
  }
  return tests.empty()
             ? has_skip && leases.empty()
             : std::all_of(tests.begin(), tests.end(), [](const auto* test) { return test->result == "skipped"; });
}

bool EntryRun::ended_by_itself() const {
  if (process == nullptr) { // a worker writes a test's line at its end
    return !tests.empty();
  }
  const std::set<int> own{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP};
  return process->signal != 0 ? own.count(process->signal) != 0 : process->exit.value_or(128) < 128; // as of a shell
}

EntryRuns entry_runs(const RunLog& log) {
  EntryRuns runs;
  find_processes(log, runs);
  std::map<std::string, std::vector<const LoggedTest*>> tests;
  for (const auto& test : log.tests) {
    tests[test.entry].push_back(&test);
  }
  std::map<std::string, std::vector<const LoggedLease*>> leases;
  for (const auto& lease : log.leases) {
    if (!lease.entry.empty()) {
      leases[lease.entry].push_back(&lease);
      runs[lease.entry];
    }
  }
  std::map<std::string, std::vector<const LoggedWait*>> waits_in_vain;
  for (const auto& wait : log.waits) {
    if (wait.in_vain) {
      waits_in_vain[wait.entry].push_back(&wait);
    }
  }
  for (const auto& skip : log.skips) {
    runs[skip.entry].has_skip = true;
  }
  for (const auto& problem : log.problems) {
    if (problem.kind == "ran again") {
      runs[problem.entry].ran_again = true;
    }
  }
  for (auto& [name, run] : runs) {
    choose_tests(run, tests[name]);
    choose_leases(run, leases[name]);
    find_times(run);
    for (const auto* const wait : waits_in_vain[name]) {
      run.waited += is_of(run, *wait) ? wait->waited : 0;
    }
    const auto find_end = [&of = run](const auto& one) {
      of.open_ended = of.open_ended || one.open_ended;
      of.running = of.running || one.running;
    };
    if (run.process != nullptr) {
      find_end(*run.process);
    } else {
      std::for_each(run.leases.begin(), run.leases.end(), [&](const auto* lease) { find_end(*lease); });
    }
  }
  return runs;
}

double seconds_between(const EntryRuns& runs) {
  std::vector<double> begins;
  std::vector<double> ends;
  for (const auto& [name, run] : runs) {
    if (run.ended > 0) {
      begins.push_back(run.begun);
      ends.push_back(run.ended);
    }
  }
  std::sort(begins.begin(), begins.end());
  std::sort(ends.begin(), ends.end());
  std::vector<double> gaps;
  for (const double begin : begins) { // in the job of ctest's that has been free for longest, if there is one
    if (const double end = ends[gaps.size()]; end <= begin) {
      gaps.push_back(begin - end);
    }
  }
  if (gaps.empty()) {
    return 0;
  }
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>((gaps.size() - 1) / 2);
  std::nth_element(gaps.begin(), middle, gaps.end());
  return *middle;
}

std::map<std::string, double> entry_times(const RunLog& log) {
  const auto runs = entry_runs(log);
  const double between = seconds_between(runs);
  std::map<std::string, double> times;
  for (const auto& [name, run] : runs) {
    if (!run.skipped() && !run.open_ended && run.ended > 0) {
      times[name] = run.seconds() + between;
    }
  }
  return times;
}

std::string full_name(const std::string& entry, const std::string& test) {
  return test.empty() || test == entry ? entry : entry.empty() ? test : entry + ": " + test;
}

std::vector<EntryResult> results_of(const RunLog& log) {
  std::vector<EntryResult> results;
  const auto runs = entry_runs(log);
  for (const auto& [entry, run] : runs) {
    EntryResult result{entry, result_in_log(run), -1, {}};
    if (log.failed) {
      result.result = log.failed->count(entry) != 0                    ? "failed"
                      : run.skipped() || log.skipped.count(entry) != 0 ? "skipped"
                                                                       : "passed";
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
