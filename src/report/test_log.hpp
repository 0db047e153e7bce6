// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "policy/suite_plan.hpp"

#include <gputest/request.hpp>

#include <map>
#include <optional>
#include <string>

namespace gputest::report {

/// What the log of a run of ctest says of one entry.
struct LoggedTest {
  std::optional<policy::PlannedSeconds> time; ///< nullopt if it was skipped
  std::optional<Request> admitted;            ///< the largest request with which it was admitted
};

/// By the names of the entries.
using TestLog = std::map<std::string, LoggedTest>;

/// Reads the text of a LastTest.log, into which ctest writes the outputs and times of the tests of its last run. Times
/// have two decimals, and do not contain the wait before the first admission of an entry with a time limit. Requests
/// are as exact as the lines `gputest: admitted`. Everything else in the text is left out.
[[nodiscard]] TestLog parse_test_log(const std::string& text);

} // namespace gputest::report
