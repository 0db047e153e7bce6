// SPDX-License-Identifier: BSD-3-Clause
#include "tool/documents/tool_description.hpp"

#include <CLI/CLI.hpp>

namespace gputest::tool {

namespace {

/// The line of a help text that begins with `Usage:`, without that word.
std::string usage_in(const std::string& help) {
  const std::string word = "Usage: ";
  const auto begin = help.find(word) + word.size();
  return help.substr(begin, help.find('\n', begin) - begin);
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

} // namespace gputest::tool
