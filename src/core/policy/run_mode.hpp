// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/memory_class.hpp>

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

/// What was seen of the ctest that started this process. Plain data: os/ctest_process gathers it.
struct CtestSighting {
  std::vector<std::string> arguments;          ///< its command line without the program's name
  std::optional<std::string> parallel_level{}; ///< CTEST_PARALLEL_LEVEL
  std::optional<std::string> preset_jobs{};    ///< `execution.jobs` of the test preset it names, if the preset says any
  bool preset_readable = true;                 ///< false if a preset is named but could not be read
};

/// A run mode and, for messages, the sighting that decided it (`ctest -j 8`).
struct RunModeFinding {
  RunMode mode = RunMode::unknown;
  std::string because;
  std::optional<unsigned> jobs{}; ///< how many tests at a time, if that is a number
};

/// Decides the run mode by the rules of ctest 4: nullopt, no ctest has started this process. Pure.
///
/// Up to 3.28 a `-j` or a CTEST_PARALLEL_LEVEL without a number meant one job, and up to 3.31 `--parallel=8` was
/// ignored. There a run with these is taken for parallel although it is not.
[[nodiscard]] RunModeFinding find_run_mode(const std::optional<CtestSighting>& ctest);

/// The preset that `--preset NAME` or `--preset=NAME` names, if any.
[[nodiscard]] std::optional<std::string> named_preset(const std::vector<std::string>& arguments);

/// Whether ctest runs a script (`-S`), which chooses how.
[[nodiscard]] bool runs_script(const std::vector<std::string>& arguments);

/// Whether one of the arguments is `option` or `option=<value>`.
[[nodiscard]] bool has_option(const std::vector<std::string>& arguments, const std::string& option);

/// How a large test goes on.
enum class LargeDecision {
  exclude,      ///< skip it: other tests run beside it
  only_if_free, ///< run it if its memory is free at once, else skip it: whether others run is not known
  wait,         ///< wait until its memory is free
};

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
