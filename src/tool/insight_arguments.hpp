// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/policy/simulated_devices.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gputest::tool {

/// What the command line of `gputest plan` says.
struct PlanArguments {
  std::string folder = ".";                                  ///< --test-dir: where ctest would be started
  std::string times;                                         ///< --times: a run log; empty: what `folder` has
  std::optional<policy::SimulatedDevices> devices;           ///< --devices; nullopt: those of this machine
  std::optional<unsigned> jobs;                              ///< --parallel; nullopt: as many as there are processors
  std::optional<std::chrono::duration<double>> context_time; ///< in which CUDA starts in a process
  bool waits_in_job = false;                                 ///< --ledger-alone
  std::size_t shards = 0;                                    ///< 0: it is not split
  std::size_t shard = 0;                                     ///< from 1; 0: all of them
  std::string fingerprint;                                   ///< that the split has to have; empty: any
  bool numbers = false;
  bool json = false;
  std::vector<std::string> ctest_options; ///< after `--`
};

/// What the command line of `gputest report` says.
struct ReportArguments {
  std::string folder = "."; ///< --test-dir: where ctest was started
  std::string log;    ///< --log: a file or a folder; empty: what GPUTEST_LOG names, or Testing/gputest in `folder`
  std::string output; ///< --output; empty: gputest_report.html
  std::string trace;  ///< --trace; empty: none
  std::string index;  ///< of CMake's instrumentation, which names it to all that it calls; not used
};

/// What the command line of `gputest classify` says.
struct ClassifyArguments {
  std::string folder = "."; ///< --test-dir: where ctest was started
  std::string log;    ///< --log: a file or a folder; empty: what GPUTEST_LOG names, or Testing/gputest in `folder`
  std::string source; ///< --source; empty: the source folder of the build tree `folder`
  bool check = false;
  bool patch = false;
  bool json = false;
};

/// What the command line of `gputest isolate` says.
struct IsolateArguments {
  std::string folder = "."; ///< --test-dir: where ctest would be started
  std::size_t shuffles = 1; ///< --shuffles
  bool json = false;
  std::vector<std::string> ctest_options; ///< after `--`
};

} // namespace gputest::tool
