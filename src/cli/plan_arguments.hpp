// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "policy/simulated_devices.hpp"
#include "policy/suite_plan.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gputest::cli {

/// What the command line of `gputest plan` says.
struct PlanArguments {
  std::string folder = ".";                        ///< --test-dir: where ctest would be started
  std::string times;                               ///< --times: a run log; empty: what `folder` has
  std::optional<policy::SimulatedDevices> devices; ///< --devices; nullopt: those of this machine
  std::optional<unsigned> jobs;                    ///< --parallel; nullopt: as many as there are processors
  std::optional<policy::PlannedSeconds> context_time;
  bool waits_in_job = false; ///< --ledger-alone
  std::size_t shards = 0;    ///< 0: it is not split
  std::size_t shard = 0;     ///< from 1; 0: all of them
  std::string fingerprint;   ///< that the split has to have; empty: any
  bool numbers = false;
  bool json = false;
  std::vector<std::string> ctest_options; ///< after `--`
};

} // namespace gputest::cli
