// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gputest::policy {

/// The versions of ctest from which it reads its settings differently, as tried with 3.25, 3.28 to 3.31, 4.0 and 4.4.
enum class CtestRules {
  v3_25, ///< numbers as atoi() reads them; `-j` reads any following word as its number
  v3_29, ///< whole numbers only; 0 and nothing stand for several
  v3_30, ///< unknown options, `--parallel=N` among them, are errors
  v4_0,  ///< `-j=N` and `--parallel=N`
  v4_4,  ///< what follows `--` is for the tests
};

/// The rules of a version such as `3.25.1`; those of 3.25 for older ones; nullopt if it is not a version.
[[nodiscard]] std::optional<CtestRules> rules_of(const std::string& version);

/// What a number of jobs comes to.
struct Level {
  enum Kind {
    one,     ///< one test at a time
    several, ///< more than one at a time
    refused, ///< not a number for these rules
  };
  Kind kind = one;
  std::optional<unsigned> jobs{}; ///< nullopt: without a number, ctest sets no bound, or one by the processors
};

/// What an option or a variable without a number comes to.
[[nodiscard]] Level level_without_number(CtestRules rules);

/// What a number that is not blank comes to on the command line or in CTEST_PARALLEL_LEVEL.
[[nodiscard]] Level level_of(const std::string& number, CtestRules rules);

/// What a preset's `execution.jobs` that is not empty comes to.
[[nodiscard]] Level level_of_preset(const std::string& jobs, CtestRules rules);

/// A level and the words that gave it, such as `-j 8`.
struct LevelChoice {
  Level level;
  std::string text;
};

/// What the last of the options `-j` and `--parallel` that counts comes to; nullopt if none does.
[[nodiscard]] std::optional<LevelChoice> level_on_command_line(const std::vector<std::string>& arguments,
                                                               CtestRules rules);

/// The option that makes ctest run a script, such as `-S`, if there is one.
[[nodiscard]] std::optional<std::string> script_option(const std::vector<std::string>& arguments, CtestRules rules);

/// Whether `--preset` is given twice with different names: the first counts, or from 4.4 on the last.
[[nodiscard]] bool names_several_presets(const std::vector<std::string>& arguments);

/// The file that `--presets-file` names (4.4), as it was written; the last one counts.
[[nodiscard]] std::optional<std::string> named_presets_file(const std::vector<std::string>& arguments);

/// Whether a resource spec file is named.
[[nodiscard]] bool names_resource_spec(const std::vector<std::string>& arguments);

/// Whether this ctest runs one command (`--build-and-test`) and no tests of its own.
[[nodiscard]] bool is_build_and_test(const std::vector<std::string>& arguments);

} // namespace gputest::policy
