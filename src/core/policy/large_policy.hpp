// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/policy/run_mode.hpp"

#include <gputest/memory_class.hpp>

#include <string>
#include <vector>

namespace gputest::policy {

/// How a large test goes on.
enum class LargeDecision {
  exclude,      ///< skip it: other tests run beside it
  only_if_free, ///< run it if its memory is free at once, else skip it: whether others run is not known
  wait,         ///< wait until its memory is free
};

/// What becomes of a large test under a policy and a run mode. Pure.
[[nodiscard]] LargeDecision decide_large(LargePolicy policy, RunMode mode);

/// How one test is run again.
struct OneTest {
  std::string ctest_name;                 ///< empty: CTest has given it none
  std::vector<std::string> ctest_options; ///< which tests ctest runs: its folder and its configuration, if known
  std::vector<std::string> command;       ///< the command line of its process
  std::string filter;                     ///< the option that makes the process run this test alone; empty: none
};

/// The command that runs an excluded test, for a shell: by ctest, or else as its process was started. Pure.
[[nodiscard]] std::string command_for_large(const OneTest& test);

} // namespace gputest::policy
