// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "insights/ctest_suite.hpp"
#include "insights/suite_plan.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace gputest::insights {

/// What `gputest plan` prints of a suite.
struct PlanReport {
  CtestSuite suite;
  PlannedMachine machine;
  std::string times; ///< where they come from; empty: of a split, from nowhere
  SuitePlan plan;
};

/// One part of a suite that is split.
struct ShardReport {
  std::vector<std::size_t> tests; ///< positions
  PlannedSeconds work{};          ///< sum of the times of those that run
  PlannedSeconds time{};          ///< planned, on its machine
  std::size_t not_run = 0;        ///< how many would be skipped, excluded or disabled
};

/// For people: the time, what bounds it, and the tests that would not run.
[[nodiscard]] std::string to_text(const PlanReport& report);

/// For machines; `gputest plan --help` documents the keys.
[[nodiscard]] nlohmann::ordered_json to_json(const PlanReport& report);

/// A table of all shards.
[[nodiscard]] std::string to_text(const PlanReport& report, const std::vector<ShardReport>& shards);

[[nodiscard]] nlohmann::ordered_json to_json(const PlanReport& report, const std::vector<ShardReport>& shards);

/// The same for splits in which each shard has the same tests.
[[nodiscard]] std::string fingerprint(const CtestSuite& suite, const std::vector<ShardReport>& shards);

} // namespace gputest::insights
