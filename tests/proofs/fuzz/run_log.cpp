// SPDX-License-Identifier: BSD-3-Clause
// A run log, and what is made of it. The input is the file.

#include "insights/run_log.hpp"
#include "insights/entry_runs.hpp"
#include "insights/report_page.hpp"
#include "insights/run_summary.hpp"
#include "proofs/fuzz/fuzzer.hpp"

#include <gputest/error.hpp>

#include <algorithm>

using namespace gputest;
using tests::require;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text{tests::text_of(data, size)};
  insights::RunLog log;
  try {
    log = insights::parse_run_log(text);
  } catch (const Error& error) {
    require(tests::contains(error.what(), "version"), "only another version is refused", error.what());
    return 0;
  }
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  require(log.events + log.unreadable_lines <= lines, "a line is an event, or unreadable, or neither");
  require(log.leases.size() + log.processes.size() + log.tests.size() + log.waits.size() + log.skips.size() <=
              log.events,
          "nothing comes from nowhere");
  for (const auto& lease : log.leases) {
    require(lease.open_ended || lease.ended > 0, "a lease that has ended has an end");
  }
  const auto sums = insights::summarise(log);
  require(sums.passed + sums.failed + sums.skipped + sums.unknown == sums.tests, "each test has one result");
  const auto page = insights::report_page(log, {log});
  const auto begin = page.find("id=\"data\">") + 10;
  const auto data_only = page.substr(begin, page.find("</script>", begin) - begin);
  require(data_only.find('<') == std::string::npos && data_only.back() == '}', "no name leaves the data");
  return 0;
}
