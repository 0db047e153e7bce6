// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "insights/ctest_suite.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace gputest::insights {

/// Splits a suite into `count` parts of about equal time: for each shard its tests, by position, in their order. Pure.
///
/// Tests of which one comes after another, and those of one name, which ctest cannot tell apart, are in one shard. Each
/// such group goes to the shard with the least time so far, the longest group first. The same tests with the same times
/// give the same shards.
///
/// Each test is in one shard, except those that CTest runs wherever one of certain others runs (`runs_with`): they are
/// in each shard that has one of these, and keep none of them together.
[[nodiscard]] std::vector<std::vector<std::size_t>> assign_shards(const std::vector<SuiteTest>& tests,
                                                                  std::size_t count);

/// The times by which a suite is split: those of the run log --times, by name; empty: all tests count alike. Throws
/// InvalidSetting. A split must not depend on what the run of one shard leaves for the next, so no log is looked for.
[[nodiscard]] std::map<std::string, double> times_of_split(const std::string& path);

/// The argument of ctest's option -I, or the text of a file of that name, that selects the tests with these numbers.
[[nodiscard]] std::string selection_of(const std::vector<std::size_t>& numbers);

} // namespace gputest::insights
