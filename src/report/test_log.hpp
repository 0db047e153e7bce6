// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "policy/suite_plan.hpp"

#include <gputest/request.hpp>

#include <map>
#include <optional>
#include <string>

namespace gputest::report {

/// What the log of a run of ctest says of one entry.
struct LoggedEntry {
  std::optional<policy::PlannedSeconds> time{}; ///< without its waits; nullopt if it was skipped
  std::optional<Request> admitted{};            ///< the largest request of its lines `gputest: admitted`
  bool is_one_test = false; ///< GoogleTest ran one test, so `admitted` is all that the entry asks for
};

/// By the names of the entries.
using TestLog = std::map<std::string, LoggedEntry>;

/// Reads the text of a LastTest.log, into which ctest writes the outputs and times of the tests of its last run.
///
/// Times have two decimals. The waits that lines `gputest: admitted` tell of are subtracted; these are in whole
/// seconds, and from two minutes on in whole minutes. gputest writes that line for the first lease of a process, and
/// for each for which it waited. Everything else in the text is left out.
[[nodiscard]] TestLog parse_test_log(const std::string& text);

/// Whether one request takes less of a device than another; a class without a size takes more than any size.
[[nodiscard]] bool asks_for_less(const Request& a, const Request& b);

} // namespace gputest::report
