// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/run_mode.hpp"

#include "core/policy/text.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace gputest::policy {

namespace {

using Arguments = std::vector<std::string>;

/// Nothing, and 0, set no bound.
RunModeFinding finding_of(const std::string& number, std::string because) {
  if (number.find_first_not_of(" \t") == std::string::npos) {
    return {RunMode::parallel, std::move(because)};
  }
  unsigned jobs = 0;
  const char* const end = number.data() + number.size();
  if (const auto read = std::from_chars(number.data(), end, jobs); read.ec != std::errc{} || read.ptr != end) {
    return {RunMode::unknown, std::move(because) + ", which is no number of jobs"};
  }
  return {jobs == 1 ? RunMode::serial : RunMode::parallel, std::move(because),
          jobs == 0 ? std::nullopt : std::optional{jobs}};
}

/// By the last of the options `-j` and `--parallel`. What follows `--` is for the tests.
std::optional<RunModeFinding> find_by_option(const Arguments& arguments) {
  std::optional<RunModeFinding> finding;
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  for (auto argument = arguments.begin(); argument != end; ++argument) {
    const auto next = argument + 1;
    if (*argument == "-j" || *argument == "--parallel") {
      const bool has_number = next != end && !starts_with(*next, "-");
      finding = finding_of(has_number ? *next : "", "ctest " + *argument + (has_number ? " " + *next : ""));
    } else if (starts_with(*argument, "-j") || starts_with(*argument, "--parallel=")) {
      const auto value = argument->find_first_not_of("= ", starts_with(*argument, "-j") ? 2 : argument->find('='));
      finding = finding_of(value == std::string::npos ? "" : argument->substr(value), "ctest " + *argument);
    }
  }
  return finding;
}

} // namespace

RunModeFinding find_run_mode(const std::optional<CtestSighting>& ctest) {
  if (!ctest) {
    return {RunMode::direct, "no ctest started this process"};
  }
  if (runs_script(ctest->arguments)) {
    return {RunMode::unknown, "a ctest script, which chooses the level itself"};
  }
  if (auto finding = find_by_option(ctest->arguments)) {
    return *finding;
  }
  const auto name = named_preset(ctest->arguments);
  const auto preset = "test preset \"" + name.value_or("") + "\"";
  if (name && !ctest->preset_readable) {
    return {RunMode::unknown, preset + ", which could not be read"};
  }
  if (name && ctest->preset_jobs) {
    const auto& jobs = *ctest->preset_jobs;
    return finding_of(jobs, preset + " with " +
                                (jobs.empty() ? "a job for each CPU" : jobs + (jobs == "1" ? " job" : " jobs")));
  }
  if (ctest->parallel_level) {
    return finding_of(*ctest->parallel_level, "CTEST_PARALLEL_LEVEL=" + *ctest->parallel_level);
  }
  return {RunMode::serial, name ? preset + " without jobs" : "ctest without -j", 1U};
}

std::optional<std::string> named_preset(const Arguments& arguments) {
  constexpr std::string_view option = "--preset";
  for (auto argument = arguments.begin(); argument != arguments.end(); ++argument) {
    if (*argument == option && argument + 1 != arguments.end()) {
      return *(argument + 1);
    }
    if (starts_with(*argument, "--preset=")) {
      return argument->substr(option.size() + 1);
    }
  }
  return std::nullopt;
}

bool runs_script(const Arguments& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
    return argument == "-S" || argument == "-SP" || argument == "-SR" || starts_with(argument, "--script");
  });
}

bool has_option(const Arguments& arguments, const std::string& option) {
  return std::any_of(arguments.begin(), arguments.end(), [&](const std::string& argument) {
    return argument == option || starts_with(argument, option + "=");
  });
}

LargeDecision decide_large(LargePolicy policy, RunMode mode) {
  if (policy != LargePolicy::exclude) {
    return LargeDecision::wait;
  }
  return mode == RunMode::parallel ? LargeDecision::exclude : LargeDecision::only_if_free;
}

std::string command_for_large(const OneTest& test) {
  std::vector<std::string> words = test.command;
  if (!test.ctest_name.empty()) {
    words = {"ctest"};
    words.insert(words.end(), test.ctest_options.begin(), test.ctest_options.end());
    words.insert(words.end(), {"-j1", "-R", exact_regex(test.ctest_name)});
  } else if (!test.filter.empty()) {
    words.push_back(test.filter);
  }
  return shell_words(words);
}

} // namespace gputest::policy
