// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "policy/suite_plan.hpp"

#include <cstddef>
#include <vector>

namespace gputest::policy {

/// Splits a suite into `count` parts of about equal time: for each test, by position, the shard from 0 on. Pure.
///
/// Tests of which one comes after another, and those of one name, which ctest cannot tell apart, are in one shard. Each
/// such group goes to the shard with the least time so far, the longest group first. The same tests with the same times
/// give the same shards.
[[nodiscard]] std::vector<std::size_t> assign_shards(const std::vector<PlannedTest>& tests, std::size_t count);

} // namespace gputest::policy
