// SPDX-License-Identifier: BSD-3-Clause
#include "cli/documents/tool_description.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>

namespace gputest::cli {

namespace {

/// The line of a help text that begins with `Usage:`, without that word.
std::string usage_in(const std::string& help) {
  const std::string word = "Usage: ";
  const auto begin = help.find(word) + word.size();
  return help.substr(begin, help.find('\n', begin) - begin);
}

/// Of `small|medium|large|SIZE` the words in lower case: a word in capitals stands for a value.
std::vector<std::string> choices_of(const std::string& value) {
  std::vector<std::string> choices;
  for (std::size_t begin = 0; begin < value.size();) {
    const auto end = std::min(value.find('|', begin), value.size());
    if (std::islower(static_cast<unsigned char>(value[begin])) != 0) {
      choices.push_back(value.substr(begin, end - begin));
    }
    begin = end + 1;
  }
  return choices;
}

OptionDescription describe(const CLI::Option& option) {
  OptionDescription description;
  for (const auto& name : option.get_snames()) {
    description.names.push_back("-" + name);
  }
  for (const auto& name : option.get_lnames()) {
    description.names.push_back("--" + name);
  }
  if (option.get_items_expected_max() > 0) {
    const auto type = option.get_type_name();
    description.value = type.substr(0, type.find(':')); // without what CLI11 says of the range
    description.choices = choices_of(description.value);
  }
  description.text = option.get_description();
  return description;
}

CommandDescription describe(const CLI::App& app, const std::string& before) {
  CommandDescription description;
  description.name = app.get_name();
  description.usage = usage_in(app.help(before));
  description.text = app.get_description();
  description.help = app.get_footer();
  for (const auto* option : app.get_options()) {
    if (option->nonpositional()) {
      description.options.push_back(describe(*option));
    }
  }
  description.takes_command = app.get_prefix_command();
  return description;
}

} // namespace

ToolDescription describe(const CLI::App& app) {
  ToolDescription description;
  description.tool = describe(app, "");
  for (const auto* command : app.get_subcommands([](const CLI::App* /*any*/) { return true; })) {
    description.commands.push_back(describe(*command, app.get_name()));
  }
  description.version = app.version();
  return description;
}

} // namespace gputest::cli
