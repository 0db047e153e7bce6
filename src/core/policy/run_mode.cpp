// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/run_mode.hpp"

#include "core/policy/ctest_arguments.hpp"

#include <algorithm>
#include <array>

namespace gputest::policy {

namespace {

bool is_blank(const std::string& text) { return text.find_first_not_of(" \t") == std::string::npos; }

RunModeFinding finding_of(const Level& level, std::string because) {
  switch (level.kind) {
  case Level::one:
    return {RunMode::serial, std::move(because), level.jobs};
  case Level::several:
    return {RunMode::parallel, std::move(because), level.jobs};
  case Level::refused:
    break;
  }
  return {RunMode::unknown, std::move(because) + ", which this ctest does not accept"};
}

RunModeFinding find_by_preset(const std::string& name, const std::string& jobs, CtestRules rules) {
  const std::string because = "test preset \"" + name + "\" with ";
  if (jobs.empty())
    return finding_of({Level::several}, because + "a job for each CPU");
  return finding_of(level_of_preset(jobs, rules), because + jobs + (jobs == "1" ? " job" : " jobs"));
}

RunModeFinding find_by_environment(const std::string& value, CtestRules rules) {
  const std::string because = "CTEST_PARALLEL_LEVEL=" + value;
  if (is_blank(value))
    return finding_of(level_without_number(rules), because);
  const Level level = level_of(value, rules);
  // From the environment, what is no number is ignored.
  return finding_of(level.kind == Level::refused ? Level{Level::one, 1U} : level, because);
}

RunModeFinding find_by(const CtestSighting& sighting, CtestRules rules) {
  if (const auto script = script_option(sighting.arguments, rules))
    return {RunMode::unknown, "a ctest " + *script + " script, which chooses the level itself"};
  if (const auto choice = level_on_command_line(sighting.arguments, rules))
    return finding_of(choice->level, "ctest " + choice->text);
  const auto preset = named_preset(sighting.arguments);
  if (preset) {
    const std::string quoted = "test preset \"" + *preset + "\"";
    if (names_several_presets(sighting.arguments))
      return {RunMode::unknown, quoted + " and another one"};
    if (!sighting.preset_readable)
      return {RunMode::unknown, quoted + ", which could not be read"};
    if (sighting.preset_jobs)
      return find_by_preset(*preset, *sighting.preset_jobs, rules);
  }
  if (sighting.parallel_level)
    return find_by_environment(*sighting.parallel_level, rules);
  return {RunMode::serial, preset ? "test preset \"" + *preset + "\" without jobs" : "ctest without -j", 1U};
}

constexpr std::array all_rules{CtestRules::v3_25, CtestRules::v3_29, CtestRules::v3_30, CtestRules::v4_0,
                               CtestRules::v4_4};

} // namespace

RunModeFinding find_run_mode(const CtestSighting& sighting) {
  if (!sighting.found)
    return {RunMode::direct, "no ctest started this process"};
  if (const auto rules = rules_of(sighting.version))
    return find_by(sighting, *rules);
  RunModeFinding finding = find_by(sighting, all_rules.back());
  if (depends_on_version(sighting))
    return {RunMode::unknown, finding.because + ", by a ctest of unknown version"};
  return finding;
}

bool depends_on_version(const CtestSighting& sighting) {
  if (!sighting.found)
    return false;
  const RunMode newest = find_by(sighting, all_rules.back()).mode;
  return std::any_of(all_rules.begin(), all_rules.end(),
                     [&](CtestRules rules) { return find_by(sighting, rules).mode != newest; });
}

} // namespace gputest::policy
