// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "insights/run_log.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace gputest::insights {

/// The last attempt of a run at one entry.
struct EntryRun {
  double begun = 0;
  double ended = 0;
  double waited = 0;                      ///< in between: to enter, and for leases
  const LoggedProcess* process = nullptr; ///< it ran only this entry; nullptr: a worker did, or it never entered
  std::vector<const LoggedTest*> tests;
  std::vector<const LoggedLease*> leases;
  std::set<std::string> failed_before; ///< tests, in earlier attempts
  bool ran_again = false;              ///< because gputest had stopped an earlier attempt
  bool has_skip = false;               ///< gputest has skipped something of it
  bool open_ended = false; ///< as LoggedLease::open_ended, of its process, or of the test that a worker was in
  bool running = false;

  [[nodiscard]] double seconds() const { return ended > begun + waited ? ended - begun - waited : 0; }

  /// By gputest's own word.
  [[nodiscard]] bool skipped() const;

  /// Its own processes recorded its end, and nobody else ended it, as far as its status tells.
  [[nodiscard]] bool ended_by_itself() const;
};
using EntryRuns = std::map<std::string, EntryRun>;

/// By the names of the entries that have a line in the log. They point into `log`.
[[nodiscard]] EntryRuns entry_runs(const RunLog& log);

/// What starting an entry takes beyond what the log shows of it: ctest's own work, and the process's begin and end. The
/// median of the times between the end of one entry and the begin of the next; 0 if no entry came after another.
[[nodiscard]] double seconds_between(const EntryRuns& runs);

/// The time of each entry that ran to its end, by its name: without waits, with seconds_between().
[[nodiscard]] std::map<std::string, double> entry_times(const RunLog& log);

/// `sort: Sort.Keys`, or one of the two if they are the same or if there is only one.
[[nodiscard]] std::string full_name(const std::string& entry, const std::string& test);

/// What became of one entry.
struct EntryResult {
  std::string entry;
  std::string result;  ///< `passed`, `failed`, `skipped`, `running`; `unknown`: killed, without ctest's verdict
  double seconds = -1; ///< without what it waited; -1: not known
  std::vector<std::string> why; ///< what the log says of a failure
};

/// One for each entry: ctest's verdict (RunLog::failed), with the skips of gputest's. If ctest's verdict is not known,
/// what the last attempt's process said at its end, or its tests did.
[[nodiscard]] std::vector<EntryResult> results_of(const RunLog& log);

/// Why the results are not ctest's, for people; empty if they are, or if no ctest ran.
[[nodiscard]] std::string remark_on_results(const RunLog& log);

} // namespace gputest::insights
