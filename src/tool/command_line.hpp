// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tool/exit_codes.hpp"

#include <gputest/error.hpp>

#include <CLI/CLI.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gputest::tool {

/// A wrong command line that CLI11 itself accepts.
class WrongCommandLine : public Error {
public:
  using Error::Error;
};

/// A command, as lists of commands show it.
struct Command {
  const char* name;
  const char* text; ///< one line
};

/// Those of the program gputest-insights.
inline constexpr Command plan_command{"plan", "Split a suite into shards of about equal time, for several machines"};
inline constexpr Command slurm_command{"slurm", "Run a suite as a job array of Slurm, with one verdict"};
inline constexpr Command report_command{"report", "Write a page about a run: results, time line, waits"};
inline constexpr Command merge_command{"merge", "Join the results of shards into one verdict"};

/// What a program accepts: a command with its options, and for some commands words after `--`.
class CommandLine {
public:
  /// Does a command, once all of the line was read. `words` are what follows the options, without a `--` between. It
  /// may throw WrongCommandLine.
  using Action = std::function<ExitCode(const std::vector<std::string>& words)>;

  /// `help` stands below the list of commands.
  explicit CommandLine(const std::string& help);

  /// Adds an option in place of a command, which prints the text. `text` may throw Error.
  void add_text(const char* option, const char* help, std::function<std::string()> text);

  /// Adds a command; `help` stands below its options. `usage` is what follows its name, of a command that takes words.
  CLI::App& add(const Command& command, const std::string& help, Action action, const std::string& usage = "");

  /// Reads the line (without the program's name), does what it says, and returns what main() returns.
  ///
  /// Results go to stdout, messages to stderr. A result that could not be written is a failure. Does not throw; does
  /// not return if an action becomes another program.
  [[nodiscard]] int run(const std::vector<std::string>& arguments);

private:
  [[nodiscard]] int interpret(const std::vector<std::string>& arguments);

  struct Known {
    Action action;
    bool takes_words = false;
  };
  CLI::App app_;
  std::map<const CLI::App*, Known> commands_;
};

/// Adds `--test-dir`.
void add_test_dir(CLI::App& command, std::string& folder, const std::string& text);

/// Adds `--test-dir` and `--log`, which say where run logs are.
void add_place_of_logs(CLI::App& command, std::string& folder, std::string& log);

/// The list of exit codes in the help of a command: those that all have, and its own.
[[nodiscard]] std::string exit_codes(std::map<ExitCode, std::string> of_command = {});

} // namespace gputest::tool
