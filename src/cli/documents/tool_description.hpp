// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace gputest::cli {

/// An option as people write it.
struct OptionDescription {
  std::vector<std::string> names;   ///< `-h`, `--help`
  std::string value;                ///< what follows it: `small|medium|large|SIZE`; empty: nothing does
  std::vector<std::string> choices; ///< the values that can be written as they are: `small`
  std::string text;
};

/// A command of the tool, or the tool itself.
struct CommandDescription {
  std::string name;
  std::string usage; ///< without the word `Usage`
  std::string text;  ///< one line
  std::string help;  ///< what stands below the options
  std::vector<OptionDescription> options;
  bool takes_command = false; ///< another program's command line follows the options
};

struct ToolDescription {
  CommandDescription tool;
  std::vector<CommandDescription> commands;
  std::string version;
};

/// All that the manual page and the completions need of a command line.
[[nodiscard]] ToolDescription describe(const CLI::App& app);

} // namespace gputest::cli
