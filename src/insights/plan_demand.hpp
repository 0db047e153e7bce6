// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/policy/memory_request.hpp"
#include "insights/suite_plan.hpp"

#include <gputest/bytes.hpp>

#include <optional>
#include <string>
#include <vector>

namespace gputest::insights {

/// What a test of a plan wants of the ledger.
struct Demand {
  policy::MemoryRequest memory;
  Bytes overhead;                    ///< its context and its device heap
  policy::DeviceMask candidates = 0; ///< the devices that could ever hold it
  unsigned gpus = 1;

  friend bool operator<(const Demand& a, const Demand& b);
};

/// What becomes of a test before anything runs.
struct PlannedDemand {
  std::optional<Demand> demand; ///< nullopt: it uses no GPU
  std::string why_not;          ///< why it does not run: skipped, excluded or disabled; empty if it runs
  double cost = 0;              ///< ctest starts those with a larger cost first
};

/// By position of the test. Pure.
[[nodiscard]] std::vector<PlannedDemand> demands_of(const std::vector<PlannedTest>& tests,
                                                    const PlannedMachine& machine);

} // namespace gputest::insights
