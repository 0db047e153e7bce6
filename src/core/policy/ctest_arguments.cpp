// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/ctest_arguments.hpp"

#include "core/policy/run_mode.hpp"
#include "core/policy/starts_with.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <string_view>

namespace gputest::policy {

namespace {

using Arguments = std::vector<std::string>;

// The word after one of these options is its value, even if it looks like an option: `-R -j4` sets no level.
constexpr std::array<std::string_view, 52> options_with_value{"-A",
                                                              "--add-notes",
                                                              "-C",
                                                              "--build-config",
                                                              "-D",
                                                              "--dashboard",
                                                              "-E",
                                                              "--exclude-regex",
                                                              "-FA",
                                                              "--fixture-exclude-any",
                                                              "-FC",
                                                              "--fixture-exclude-cleanup",
                                                              "-FS",
                                                              "--fixture-exclude-setup",
                                                              "-I",
                                                              "--tests-information",
                                                              "-L",
                                                              "--label-regex",
                                                              "-LE",
                                                              "--label-exclude",
                                                              "-M",
                                                              "--test-model",
                                                              "-O",
                                                              "--output-log",
                                                              "-R",
                                                              "--tests-regex",
                                                              "-S",
                                                              "--script",
                                                              "-SP",
                                                              "--script-new-process",
                                                              "-SR",
                                                              "--script-run",
                                                              "-T",
                                                              "--test-action",
                                                              "-W",
                                                              "--max-width",
                                                              "--extra-submit",
                                                              "--group",
                                                              "--interactive-debug-mode",
                                                              "--output-junit",
                                                              "--overwrite",
                                                              "--repeat",
                                                              "--repeat-until-fail",
                                                              "--resource-spec-file",
                                                              "--stop-time",
                                                              "--submit-index",
                                                              "--test-dir",
                                                              "--test-load",
                                                              "--test-output-size-failed",
                                                              "--test-output-size-passed",
                                                              "--timeout",
                                                              "--track"};

bool takes_value(std::string_view option) {
  return std::find(options_with_value.begin(), options_with_value.end(), option) != options_with_value.end();
}

// The arguments that are ctest's own.
std::size_t end_of_options(const Arguments& arguments, CtestRules rules) {
  const auto end = rules < CtestRules::v4_4 ? arguments.end() : std::find(arguments.begin(), arguments.end(), "--");
  return static_cast<std::size_t>(end - arguments.begin());
}

// `--parallel=4` and, as one argument, `--parallel 4`.
bool has_attached_value(std::string_view argument, std::string_view option) {
  return argument.size() > option.size() && starts_with(argument, option) &&
         (argument[option.size()] == '=' || argument[option.size()] == ' ');
}

Level level_of_number(long number) {
  if (number == 1)
    return {Level::one, 1U};
  return {Level::several, number <= INT_MAX ? std::optional{static_cast<unsigned>(number)} : std::nullopt};
}

Level level_of_value(const std::string& value, CtestRules rules) {
  if (value.empty())
    return level_without_number(rules);
  return level_of(value, rules);
}

// The level of `-jVALUE`, `-j=VALUE` or `--parallel=VALUE`; nullopt if the argument is none of these, or is ignored.
std::optional<Level> level_of_attached(const std::string& argument, CtestRules rules) {
  for (const std::string_view option : {"-j", "--parallel"}) {
    if (rules < CtestRules::v4_0 || !has_attached_value(argument, option))
      continue;
    const std::string value = argument.substr(option.size() + 1);
    return value.empty() ? Level{Level::refused} : level_of(value, rules);
  }
  if (starts_with(argument, "-j"))
    return level_of(argument.substr(2), rules);
  if (rules == CtestRules::v3_30 && has_attached_value(argument, "--parallel"))
    return Level{Level::refused};
  return std::nullopt;
}

// Of `--option value` and `--option=value`.
Arguments values_of(const Arguments& arguments, const std::string& option) {
  Arguments values;
  const std::string beginning = option + "=";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == option && i + 1 < arguments.size())
      values.push_back(arguments[i + 1]);
    else if (starts_with(arguments[i], beginning))
      values.push_back(arguments[i].substr(beginning.size()));
  }
  return values;
}

} // namespace

std::optional<CtestRules> rules_of(const std::string& version) {
  char* end = nullptr;
  const long major = std::strtol(version.c_str(), &end, 10);
  if (end == version.c_str() || *end != '.')
    return std::nullopt;
  const char* minor_begin = end + 1;
  const long minor = std::strtol(minor_begin, &end, 10);
  if (end == minor_begin)
    return std::nullopt;
  const auto at_least = [&](long wanted_major, long wanted_minor) {
    return major > wanted_major || (major == wanted_major && minor >= wanted_minor);
  };
  if (at_least(4, 4))
    return CtestRules::v4_4;
  if (at_least(4, 0))
    return CtestRules::v4_0;
  if (at_least(3, 30))
    return CtestRules::v3_30;
  if (at_least(3, 29))
    return CtestRules::v3_29;
  return CtestRules::v3_25;
}

Level level_without_number(CtestRules rules) {
  return rules < CtestRules::v3_29 ? Level{Level::one, 1U} : Level{Level::several};
}

Level level_of(const std::string& number, CtestRules rules) {
  char* end = nullptr;
  errno = 0;
  const long value = std::strtol(number.c_str(), &end, 10);
  // As atoi() does, which makes any number of one that is too big.
  if (rules < CtestRules::v3_29)
    return level_of_number(static_cast<int>(value) > 1 ? static_cast<int>(value) : 1);
  const bool negative = number.find('-') != std::string::npos;
  if (errno != 0 || end == number.c_str() || *end != '\0' || negative)
    return {Level::refused};
  return value == 0 ? Level{Level::several} : level_of_number(value); // 0 sets no bound
}

Level level_of_preset(const std::string& jobs, CtestRules rules) {
  // JSON knows one kind of number: 4.0 is 4.
  const std::size_t point = jobs.find('.');
  const bool whole = point != std::string::npos && jobs.find_first_not_of('0', point + 1) == std::string::npos;
  return level_of(whole ? jobs.substr(0, point) : jobs, rules);
}

std::optional<LevelChoice> level_on_command_line(const Arguments& arguments, CtestRules rules) {
  std::optional<LevelChoice> choice;
  const std::size_t end = end_of_options(arguments, rules);
  for (std::size_t i = 0; i < end; ++i) {
    const std::string& argument = arguments[i];
    if (argument == "-j" || argument == "--parallel") {
      const bool is_last = i + 1 == end;
      if (rules < CtestRules::v3_29 && is_last && argument == "--parallel")
        continue; // ignored
      const bool takes_next = !is_last && (rules < CtestRules::v3_29 || !starts_with(arguments[i + 1], "-"));
      const std::string value = takes_next ? arguments[i + 1] : std::string{};
      choice = LevelChoice{level_of_value(value, rules), argument};
      if (!value.empty())
        choice->text.append(" ").append(value);
      if (takes_next)
        ++i;
    } else if (const auto level = level_of_attached(argument, rules)) {
      choice = LevelChoice{*level, argument};
    } else if (takes_value(argument)) {
      ++i;
    }
  }
  return choice;
}

std::optional<std::string> script_option(const Arguments& arguments, CtestRules rules) {
  // Older ones find it even where it stands for another option's value; a level that a script may set is never certain.
  for (std::size_t i = 0; i < end_of_options(arguments, rules); ++i)
    for (const char* option : {"-S", "-SP", "-SR", "--script", "--script-new-process", "--script-run"})
      if (arguments[i] == option || has_attached_value(arguments[i], option))
        return option;
  return std::nullopt;
}

std::optional<std::string> named_preset(const Arguments& arguments) {
  const Arguments names = values_of(arguments, "--preset");
  if (names.empty())
    return std::nullopt;
  return names.front();
}

bool names_several_presets(const Arguments& arguments) {
  const Arguments names = values_of(arguments, "--preset");
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return name != names.front(); });
}

std::optional<std::string> named_presets_file(const Arguments& arguments) {
  const Arguments files = values_of(arguments, "--presets-file");
  if (files.empty())
    return std::nullopt;
  return files.back();
}

bool names_resource_spec(const Arguments& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
    return argument == "--resource-spec-file" || has_attached_value(argument, "--resource-spec-file");
  });
}

bool is_build_and_test(const Arguments& arguments) {
  return std::find(arguments.begin(), arguments.end(), "--build-and-test") != arguments.end();
}

} // namespace gputest::policy
