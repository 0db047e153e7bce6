#pragma once

#include "policy/run_mode.hpp"

#include <gputest/memory_class.hpp>

#include <string>

namespace gputest::policy {

/// How a large test goes on.
enum class LargeDecision {
  exclude,      ///< skip it: other tests run beside it
  only_if_free, ///< run it if its memory is free at once, else skip it: whether others run is not known
  wait,         ///< wait until its memory is free
};

/// What becomes of a large test under a policy and a run mode. Pure.
[[nodiscard]] LargeDecision decide_large(LargePolicy policy, RunMode mode);

/// The command that runs an excluded test: by CTest's name of it, or else by GoogleTest's. Pure.
[[nodiscard]] std::string command_for_large(const std::string& ctest_name, const std::string& program,
                                            const std::string& gtest_name);

} // namespace gputest::policy
