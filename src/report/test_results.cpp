// SPDX-License-Identifier: BSD-3-Clause
#include "report/test_results.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace gputest::report {

namespace {

constexpr int skipped_exit = 77;

bool is_failure(int exit) { return exit != 0 && exit != skipped_exit; }

/// What processes waited for leases.
class Waits {
public:
  explicit Waits(const RunLog& log) {
    for (const auto& lease : log.leases) {
      if (lease.begun > lease.asked) {
        by_pid_.emplace(lease.pid, std::pair{lease.asked, lease.begun});
      }
    }
  }

  [[nodiscard]] double between(std::int64_t pid, double begin, double end) const {
    double sum = 0;
    const auto [first, last] = by_pid_.equal_range(pid);
    for (auto wait = first; wait != last; ++wait) {
      sum += std::max(0.0, std::min(end, wait->second.second) - std::max(begin, wait->second.first));
    }
    return sum;
  }

private:
  std::multimap<std::int64_t, std::pair<double, double>> by_pid_;
};

/// Which process wrote a line, and which began the attempt that the line is of.
class Processes {
public:
  explicit Processes(const RunLog& log) {
    for (const auto& process : log.processes) {
      by_pid_.emplace(process.pid, &process);
      if (!process.under_a_lease) {
        by_entry_[process.entry].emplace(process.begun, &process);
      }
    }
  }

  /// The process `pid` at the time `t`: if it has become another program, the one that leases. nullptr: it has not
  /// entered the ledger.
  [[nodiscard]] const LoggedProcess* at(std::int64_t pid, double t) const {
    const LoggedProcess* found = nullptr;
    const auto [first, last] = by_pid_.equal_range(pid);
    for (auto each = first; each != last; ++each) {
      const auto* const process = each->second;
      if (process->begun <= t && t <= process->ended && (found == nullptr || found->under_a_lease)) {
        found = process;
      }
    }
    return found;
  }

  /// When the attempt at `entry` began that the process `pid` is part of at the time `t`: with the process, with that
  /// under whose lease it runs, or at `own_begin`, if the process is a worker or has not entered the ledger.
  [[nodiscard]] double begin_of_attempt(const std::string& entry, std::int64_t pid, double t, double own_begin) const {
    const auto* const own = at(pid, t);
    if (own != nullptr && !own->under_a_lease) {
      return own->entry == entry ? own->begun : own_begin;
    }
    const auto of_entry = by_entry_.find(entry);
    if (of_entry == by_entry_.end()) {
      return own_begin;
    }
    const auto after = of_entry->second.upper_bound(t);
    if (after == of_entry->second.begin()) {
      return own_begin;
    }
    const auto* const holder = std::prev(after)->second;
    return own != nullptr || t <= holder->ended ? holder->begun : own_begin;
  }

private:
  std::multimap<std::int64_t, const LoggedProcess*> by_pid_;
  std::map<std::string, std::multimap<double, const LoggedProcess*>> by_entry_;
};

using Key = std::pair<std::string, std::string>; ///< an entry, and a test or a name in it

/// The result of one attempt at one test.
struct Attempt {
  std::string entry;
  std::string test; ///< empty: the entry as a whole
  double begun = 0;
  TestResult result;
  bool is_after_test = false; ///< it is not of `test`, but of what came after it in its process
};

class Attempts {
public:
  explicit Attempts(const RunLog& log) : waits_{log}, processes_{log} {
    for (const auto& test : log.tests) {
      tests_.emplace(test.entry, &test);
      const auto begun = test.ended - test.seconds;
      add({test.entry,
           test.test,
           processes_.begin_of_attempt(test.entry, test.pid, test.ended, begun),
           {full_name(test.entry, test.test), test.result,
            std::max(0.0, test.seconds - waits_.between(test.pid, begun, test.ended)), test.ended, test.entry,
            test.test}});
    }
    std::map<Key, const LoggedLease*> last_leases;
    for (const auto& lease : log.leases) {
      auto& last = last_leases.emplace(Key{lease.entry, lease.test}, &lease).first->second;
      last = last->begun <= lease.begun ? &lease : last;
    }
    for (const auto& [key, lease] : last_leases) {
      if (lease->open_ended) {
        add({lease->entry,
             lease->test,
             processes_.begin_of_attempt(lease->entry, lease->pid, lease->ended, lease->begun),
             {full_name(lease->entry, lease->test), "unknown", -1, lease->ended, lease->entry, lease->test}});
      }
    }
    for (const auto& process : log.processes) {
      if (!process.under_a_lease && is_failure(process.exit.value_or(0))) {
        add_failure(process);
      }
    }
    const auto of_tests = entries_;
    for (const auto& process : log.processes) {
      if (!process.under_a_lease && of_tests.count(process.entry) == 0) {
        add_whole(process);
      }
    }
  }

  /// The last of each test.
  [[nodiscard]] std::vector<TestResult> last() const {
    std::map<Key, double> last_begin;
    for (const auto& attempt : attempts_) {
      auto& begin = last_begin.emplace(Key{attempt.entry, attempt.test}, attempt.begun).first->second;
      begin = std::max(begin, attempt.begun);
    }
    std::vector<const Attempt*> last;
    std::map<Key, std::size_t> positions;
    for (const auto& attempt : attempts_) {
      if (attempt.is_after_test && last_begin.at({attempt.entry, attempt.test}) > attempt.result.ended) {
        continue;
      }
      const auto [found, is_new] = positions.emplace(Key{attempt.entry, attempt.result.name}, last.size());
      if (is_new) {
        last.push_back(&attempt);
      } else if (counts_before(attempt, *last[found->second])) {
        last[found->second] = &attempt;
      }
    }
    std::vector<TestResult> results;
    results.reserve(last.size());
    for (const auto* const attempt : last) {
      results.push_back(attempt->result);
    }
    return results;
  }

  [[nodiscard]] bool any_of(const std::string& entry) const { return entries_.count(entry) != 0; }

private:
  void add(Attempt attempt) {
    entries_.insert(attempt.entry);
    attempts_.push_back(std::move(attempt));
  }

  static bool counts_before(const Attempt& a, const Attempt& b) {
    const auto weight = [](const std::string& result) { return result == "failed" ? 2 : result == "unknown" ? 1 : 0; };
    const bool are_one_attempt = a.begun < b.result.ended && b.begun < a.result.ended;
    return are_one_attempt && weight(a.result.result) != weight(b.result.result)
               ? weight(a.result.result) > weight(b.result.result)
               : a.result.ended >= b.result.ended;
  }

  /// Of a process that failed in a test, or after its tests. What a test's own line says, is not said again.
  void add_failure(const LoggedProcess& process) {
    const auto& entry = process.end_entry.empty() ? process.entry : process.end_entry;
    if (!process.end_test.empty()) {
      add({entry,
           process.end_test,
           processes_.begin_of_attempt(entry, process.pid, process.ended, process.ended),
           {full_name(entry, process.end_test), "failed", -1, process.ended, entry, process.end_test}});
      return;
    }
    const LoggedTest* last_test = nullptr;
    const auto [first, last] = tests_.equal_range(entry);
    for (auto each = first; each != last; ++each) {
      const auto& test = *each->second;
      if (test.ended < process.begun || process.ended < test.ended) {
        continue;
      }
      const auto* const of_test = processes_.at(test.pid, test.ended);
      if (test.pid == process.pid || (of_test != nullptr && of_test->under_a_lease)) {
        if (test.result == "failed") {
          return;
        }
        last_test = &test;
      }
    }
    if (last_test != nullptr) {
      add({entry,
           last_test->test,
           process.begun,
           {entry + ", after its tests", "failed", -1, process.ended, entry, ""},
           true});
    }
  }

  /// Of an entry that has no test of a framework.
  void add_whole(const LoggedProcess& process) {
    const auto exit = process.exit;
    const auto* const result = !exit ? "unknown" : *exit == 0 ? "passed" : is_failure(*exit) ? "failed" : "skipped";
    add({process.entry,
         "",
         process.begun,
         {process.entry, result,
          process.open_ended
              ? -1
              : process.ended - process.begun - waits_.between(process.pid, process.begun, process.ended),
          process.ended, process.entry, ""}});
  }

  Waits waits_;
  Processes processes_;
  std::multimap<std::string, const LoggedTest*> tests_; ///< by entries
  std::vector<Attempt> attempts_;
  std::set<std::string> entries_; ///< that have an attempt
};

} // namespace

std::string full_name(const std::string& entry, const std::string& test) {
  return test.empty() || test == entry ? entry : entry.empty() ? test : entry + ": " + test;
}

std::vector<TestResult> results_of(const RunLog& log) {
  const Attempts attempts{log};
  auto results = attempts.last();
  std::set<std::string> skipped;
  for (const auto& skip : log.skips) { // of what never had a device
    if (!attempts.any_of(skip.entry) && skipped.insert(skip.entry).second) {
      results.push_back({full_name(skip.entry, skip.test), "skipped", -1, 0, skip.entry, skip.test});
    }
  }
  return results;
}

} // namespace gputest::report
