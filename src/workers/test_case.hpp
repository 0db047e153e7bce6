// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/policy/verdict.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace gputest::workers {

/// The test case that this process was started for, by its command line and environment.
struct TestCase {
  std::vector<std::string> command;       ///< that runs it in a process of its own
  std::vector<std::string> arguments;     ///< of a worker: those of the command that do not belong to the one case
  std::vector<std::string> variables;     ///< of the case, `NAME=value`
  std::string filter;                     ///< what selects it
  std::string report;                     ///< where GoogleTest's report goes; empty: there is none
  std::string report_format;              ///< `xml` or `json`
  std::string name;                       ///< as CTest knows it, for messages
  std::string reason_for_own_process;     ///< why it has to run in a process of its own; empty: a worker may run it
  bool prints_reason = true;              ///< whether reason_for_own_process is to be written
  std::string fixtures;                   ///< names those of the user that it requires; empty: none
  bool was_long = false;                  ///< whether it stands in the file of its executable's long cases
  bool dependence_fails = true;           ///< unless GPUTEST_DEPENDENCE=show
  std::optional<policy::TimeLimit> limit; ///< GPUTEST_TIMEOUT
};

/// `arguments` are those of the caller: `[--own-process=<why>] [--fixtures=<hash>] [--long] <executable> <argument>...`. The
/// variables of this process's environment are read.
[[nodiscard]] TestCase read_test_case(std::vector<std::string> arguments);

/// Of CTest for a test without a TIMEOUT.
inline constexpr std::chrono::milliseconds usual_time_limit{1'500'000};

/// How long a case may take, the end of its process included: TIMEOUT, else as CTest says.
[[nodiscard]] std::chrono::milliseconds time_limit_of(const TestCase& test);

/// Names all that has to be the same for two cases to share a worker, apart from the ctest run: the executable, its
/// arguments, the environment, and what else a process inherits. Empty if it cannot be told.
[[nodiscard]] std::string worker_key_of(const TestCase& test);

/// Whether the umask takes rights off this user, too.
[[nodiscard]] bool umask_is_for_owner();

} // namespace gputest::workers
