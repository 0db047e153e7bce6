// SPDX-License-Identifier: BSD-3-Clause
#include "insights/ctest_suite.hpp"

#include "core/policy/run_mode.hpp"
#include "core/settings/settings.hpp"

#include <gputest/error.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <optional>

namespace gputest::insights {

namespace {

using nlohmann::json;

/// The properties of an entry by their names.
json properties_of(const json& test) {
  auto properties = json::object();
  for (const auto& property : test.value("properties", json::array())) {
    properties[property.at("name").get<std::string>()] = property.at("value");
  }
  return properties;
}

std::vector<std::string> list_in(const json& properties, const char* name) {
  const auto value = properties.value(name, json::array());
  return value.is_array() ? value.get<std::vector<std::string>>() : std::vector{value.get<std::string>()};
}

/// The variables that ctest sets for an entry. `NAME=set:value` of ENVIRONMENT_MODIFICATION is applied after
/// ENVIRONMENT.
std::map<std::string, std::string> environment_of(const json& properties) {
  std::map<std::string, std::string> variables;
  for (const auto& text : list_in(properties, "ENVIRONMENT")) {
    const auto end = text.find('=');
    variables[text.substr(0, end)] = end == std::string::npos ? "" : text.substr(end + 1);
  }
  const std::string set = "=set:";
  for (const auto& text : list_in(properties, "ENVIRONMENT_MODIFICATION")) {
    if (const auto end = text.find(set); end != std::string::npos && text.find('=') == end) {
      variables[text.substr(0, end)] = text.substr(end + set.size());
    }
  }
  return variables;
}

bool runs_nowhere(const std::string& name, const json& properties, bool uses_gpu) try {
  const auto variables = environment_of(properties);
  if (properties.value("DISABLED", false) || variables.count("GPUTEST_ENTRY") == 0 || !uses_gpu) {
    return properties.value("DISABLED", false);
  }
  const auto entry = settings::parse_entry([&](const char* variable) -> std::optional<std::string> {
    const auto found = variables.find(variable);
    return found == variables.end() ? std::nullopt : std::optional{found->second};
  });
  const auto mode = properties.value("RUN_SERIAL", false) ? policy::RunMode::serial : policy::RunMode::parallel;
  return entry.request.memory_class == MemoryClass::large &&
         policy::decide_large(entry.large, mode) == policy::LargeDecision::exclude;
} catch (const InvalidSetting& error) {
  throw InvalidSetting{"the test " + name + ": " + error.what()};
}

/// Tests that each test comes after, by DEPENDS and by fixtures. ctest's list says of fixtures in DEPENDS, too.
void read_order(std::vector<SuiteTest>& tests, const std::vector<json>& properties) {
  std::multimap<std::string, std::size_t> named;
  std::multimap<std::string, std::size_t> set_up;
  std::multimap<std::string, std::size_t> required;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    named.emplace(tests[i].name, i);
    for (const auto& fixture : list_in(properties[i], "FIXTURES_SETUP")) {
      set_up.emplace(fixture, i);
    }
    for (const auto& fixture : list_in(properties[i], "FIXTURES_REQUIRED")) {
      required.emplace(fixture, i);
    }
  }
  for (std::size_t i = 0; i < tests.size(); ++i) {
    const auto add = [i](std::vector<std::size_t>& positions, const auto& map, const std::vector<std::string>& keys) {
      for (const auto& key : keys) {
        const auto [begin, end] = map.equal_range(key);
        for (auto found = begin; found != end; ++found) {
          if (found->second != i) {
            positions.push_back(found->second);
          }
        }
      }
      std::sort(positions.begin(), positions.end());
      positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
    };
    auto cleaned = list_in(properties[i], "FIXTURES_CLEANUP");
    tests[i].of_fixture = !cleaned.empty() || !list_in(properties[i], "FIXTURES_SETUP").empty();
    add(tests[i].after, named, list_in(properties[i], "DEPENDS"));
    add(tests[i].after, set_up, list_in(properties[i], "FIXTURES_REQUIRED"));
    add(tests[i].after, required, cleaned);
    add(tests[i].after, set_up, cleaned);
    const auto is_set_up = [&](const std::string& fixture) { return set_up.count(fixture) != 0; };
    cleaned.erase(std::remove_if(cleaned.begin(), cleaned.end(), is_set_up), cleaned.end());
    add(tests[i].runs_with, required, cleaned);
  }
}

} // namespace

CtestSuite parse_ctest_suite(const std::string& text, const std::map<std::string, double>& times) try {
  CtestSuite suite;
  const auto document = json::parse(text);
  std::vector<json> properties;
  double sum = 0;
  for (const auto& entry : document.at("tests")) {
    auto& test = suite.tests.emplace_back();
    test.name = entry.at("name").get<std::string>();
    const auto labels = list_in(properties.emplace_back(properties_of(entry)), "LABELS");
    test.uses_gpu = std::find(labels.begin(), labels.end(), "gpu") != labels.end();
    test.runs_nowhere = runs_nowhere(test.name, properties.back(), test.uses_gpu);
    if (const auto time = times.find(test.name); time != times.end()) {
      sum += time->second;
      ++suite.measured;
    }
  }
  read_order(suite.tests, properties);
  suite.assumed_seconds = suite.measured == 0 ? 1 : sum / static_cast<double>(suite.measured);
  for (auto& test : suite.tests) {
    const auto time = times.find(test.name);
    test.seconds = test.runs_nowhere ? 0 : time != times.end() ? time->second : suite.assumed_seconds;
  }
  return suite;
} catch (const json::exception&) {
  throw Error{no_list_of_ctest};
}

} // namespace gputest::insights
