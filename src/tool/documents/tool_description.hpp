// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace gputest::tool {

/// An option as people write it.
struct OptionDescription {
  std::vector<std::string> names; ///< `-h`, `--help`
  std::string value;              ///< what follows it: `small|medium|large|SIZE`; empty: nothing does
  std::string text;
};

/// A command of the tool, or the tool itself.
struct CommandDescription {
  std::string name;
  std::string usage; ///< without the word `Usage`
  std::string text;  ///< one line
  std::string help;  ///< what stands below the options
  std::vector<OptionDescription> options;
};

struct ToolDescription {
  CommandDescription tool;
  std::vector<CommandDescription> commands;
  std::string version;
};

/// All that the manual page needs of a command line.
[[nodiscard]] ToolDescription describe(const CLI::App& app);

} // namespace gputest::tool
