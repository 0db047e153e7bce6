// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "insights/ctest_suite.hpp"

#include <cstddef>
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

} // namespace gputest::insights
