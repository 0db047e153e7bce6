// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/policy/capabilities.hpp"
#include "core/policy/claims.hpp"

#include <gputest/memory_class.hpp>
#include <gputest/request.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gputest::insights {

using PlannedSeconds = std::chrono::duration<double>;

/// A CTest entry, as a plan sees it.
struct PlannedTest {
  std::string name;
  PlannedSeconds time{};      ///< how long it runs once it has its memory
  std::optional<double> cost; ///< CTest starts those with a larger cost first; nullopt: its time is its cost
  unsigned processors = 1;    ///< how many of ctest's `-j` jobs it takes
  bool serial = false;        ///< nothing runs beside it
  bool disabled = false;
  std::vector<std::string> locks; ///< RESOURCE_LOCK: two tests with a lock in common do not run together
  std::vector<std::size_t> after; ///< positions of the tests that have to end before it starts
  std::optional<Request> request; ///< nullopt: it uses no GPU
  bool in_worker = false;         ///< in a process that has begun CUDA already
  LargePolicy large = LargePolicy::exclude;
  /// Those of `after` with each of which CTest runs it: it cleans up a fixture of theirs that no test sets up.
  std::vector<std::size_t> runs_with;
};

/// What a suite runs on, and how.
struct PlannedMachine {
  std::vector<policy::Candidate> devices; ///< policy::Candidate::free: what tests and their contexts may have of it
  Bytes context;                          ///< what each process takes of its devices by itself
  /// How long the driver needs to start CUDA in a process. The processes of a machine do that one after another.
  PlannedSeconds context_time{};
  unsigned jobs = 1; ///< ctest's `-j`
};

/// What becomes of one test.
struct PlannedRun {
  std::string why_not; ///< why it does not run: skipped, excluded or disabled; empty if it runs
  PlannedSeconds start{};
  PlannedSeconds end{};
  policy::DeviceMask devices = 0; ///< by index in PlannedMachine::devices
};

/// A time that no order of the tests can make shorter.
struct PlanBound {
  enum class Kind { longest, jobs, memory, contexts };
  Kind kind = Kind::longest;
  PlannedSeconds time{};
  std::string test; ///< longest: which
};

/// How a suite would run.
struct SuitePlan {
  PlannedSeconds time{};         ///< from its start to its end
  std::vector<PlannedRun> runs;  ///< by position of the test
  std::vector<PlanBound> bounds; ///< the largest first
};

/// Plans the suite: starts tests in the order in which ctest does, each when the ledger's own decision would grant its
/// memory at once. Pure.
///
/// A test whose predecessors form a circle is started as if it had none.
[[nodiscard]] SuitePlan plan_suite(const std::vector<PlannedTest>& tests, const PlannedMachine& machine);

} // namespace gputest::insights
