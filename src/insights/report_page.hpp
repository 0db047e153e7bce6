// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "insights/ctest_log.hpp"
#include "insights/run_log.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace gputest::insights {

/// What the page shows. Read by report_page.html, trace_of() and the report for GitHub. Rows have keys of one letter,
/// because the page has many. In all of them `d` are indices into `devices`, `n` is the name of a test, `t` and `e` are
/// its begin and end. The others:
///
/// - `leases`: `b` bytes leased; `p` peaks of each of `d`, -1: unknown; `v` evidence; `o`: has no end; `w` waited
/// - `contexts`: `b` bytes; `w` waited
/// - `waits`: `w` waited, 0: not ended; `a` asked for; `c` blockers; `b` external bytes; `v`: in vain
/// - `workers`: `n` program; `p` pid; `b` why it was started; `c` cases, with `r` result
/// - `tests`: `r` result; `s` seconds, -1: unknown; `b` bytes leased; `p` peak; `c` class; `w` waited; `x` why skipped
/// - `failed`: `n` entry; `w` reasons; `s` as of `tests`; of its output: `l` line, `o` last lines, `m` message
/// - `problems`: `k` kind, `x` text
/// - `skips`: `n` tests, `c` how many, `r` reason
/// - `causes`: `w` waited for it, `c` waits
/// - `history`: `jobs`, and the keys of `sums`
///
/// Times are seconds, `t` and `e` since the begin of the run; of `history`, since 1970.
[[nodiscard]] nlohmann::ordered_json page_data(const RunLog& run, const std::vector<RunLog>& history = {},
                                               const CtestLog& ctest = {});

/// A page of HTML that shows a run, and beside it the runs in `history`, of which it is the first. `ctest` has the
/// output of failed entries. The page needs nothing else, and no network. Names and output are data in it, whatever
/// characters they have.
[[nodiscard]] std::string report_page(const RunLog& run, const std::vector<RunLog>& history,
                                      const CtestLog& ctest = {});

/// A run in the format of Chrome's about:tracing, which Perfetto reads: for each device the leases, in as many lanes as
/// there were at once, and the bytes leased; and for each worker its cases. Pure.
[[nodiscard]] std::string trace_of(const RunLog& run);

} // namespace gputest::insights
