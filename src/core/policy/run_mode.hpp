// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gputest::policy {

/// How ctest runs the tests, as far as it can be known.
enum class RunMode {
  direct,   ///< no ctest: by hand, by an IDE, by a script
  serial,   ///< one test at a time
  parallel, ///< several at a time
  unknown,  ///< ctest, but what it does cannot be known: what is observed on the device decides
};

/// What was seen of the ctest that started this process. Plain data: system/ctest_process gathers it.
struct CtestSighting {
  bool found = false;                        ///< whether an ancestor is a ctest
  std::string version;                       ///< `3.25.1`; empty if it is not known
  std::vector<std::string> arguments;        ///< its command line without the program's name
  std::optional<std::string> parallel_level; ///< CTEST_PARALLEL_LEVEL in ctest's own environment, if set
  std::optional<std::string> preset_jobs;    ///< `execution.jobs` of the test preset it names, if the preset says any
  bool preset_readable = true;               ///< false if a preset is named but its file could not be found or read
};

/// A run mode and, for messages, the sighting that decided it (`-j 8 on ctest's command line`).
struct RunModeFinding {
  RunMode mode = RunMode::unknown;
  std::string because;
  std::optional<unsigned> jobs{}; ///< how many tests at a time, if that is a number
};

/// Decides the run mode by the rules of the ctest version at hand (3.25 to 4.x; tests/core/policy/run_mode_test.cpp has
/// the table). Pure.
[[nodiscard]] RunModeFinding find_run_mode(const CtestSighting& sighting);

/// Whether `arguments` hold something whose meaning depends on the version of ctest, so that it has to be asked for.
[[nodiscard]] bool depends_on_version(const CtestSighting& sighting);

/// The preset that `--preset NAME` or `--preset=NAME` names, if any.
[[nodiscard]] std::optional<std::string> named_preset(const std::vector<std::string>& arguments);

} // namespace gputest::policy
