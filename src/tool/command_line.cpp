// SPDX-License-Identifier: BSD-3-Clause
#include "tool/command_line.hpp"

#include "core/policy/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <set>
#include <utility>

namespace gputest::tool {

namespace {

/// CLI11's formatter, with footers as they are written: newer versions of CLI11 make paragraphs of them, but they are
/// tables.
class HelpFormatter : public CLI::Formatter {
public:
  explicit HelpFormatter(std::string usage) : usage_{std::move(usage)} {}

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    auto text = CLI::Formatter::make_help(app, std::move(name), mode);
    text.erase(text.find_last_not_of('\n') + 1);
    return text + "\n\n" + app->get_footer() + "\n";
  }
  std::string make_footer(const CLI::App* /*app*/) const override { return ""; }
  /// CLI11 cannot know that a command follows the options.
  std::string make_usage(const CLI::App* app, std::string name) const override {
    return usage_.empty() ? CLI::Formatter::make_usage(app, std::move(name)) : "Usage: " + usage_ + "\n";
  }

private:
  std::string usage_;
};

/// `app` names the command, if there is one, whose help is the one to read.
int refuse(const CLI::App& app, const std::string& why) {
  const auto commands = app.get_subcommands();
  fmt::print(stderr, "gputest: {}\nSee 'gputest {}--help'.\n", why,
             commands.empty() ? "" : commands.front()->get_name() + " ");
  return to_int(ExitCode::wrong_command_line);
}

int fail(ExitCode code, const std::string& why) {
  fmt::print(stderr, "gputest: {}\n", why);
  return to_int(code);
}

bool is_option(const std::string& word) { return word.rfind('-', 0) == 0; }

/// What to say of an option that a command does not have.
std::string unknown_option(const CLI::App& command, const std::string& word) {
  std::set<std::string> names;
  for (const auto* option : command.get_options()) {
    for (const auto& name : option->get_lnames()) {
      names.insert("--" + name);
    }
  }
  const auto name = word.substr(0, word.find('='));
  return fmt::format("unknown option '{}' of 'gputest {}'; the nearest is {}", name, command.get_name(),
                     policy::nearest_name(name, names));
}

/// Whether all of a command's output was written. A part of a list of tests must not be taken for all of it.
bool is_output_written() { return std::fflush(stdout) == 0 && std::ferror(stdout) == 0; }

} // namespace

CommandLine::CommandLine(const std::string& help)
    : app_{"Lets GPU tests share the memory of this machine's GPUs without running out of it.", "gputest"} {
  app_.formatter(std::make_shared<HelpFormatter>("")); // of its commands, too, which are added later
  app_.set_version_flag("--version", "gputest " GPUTEST_VERSION);
  app_.footer(help);
  app_.require_subcommand(1);
}

void CommandLine::add_text(const char* option, const char* help, std::function<std::string()> text) {
  app_.add_flag_callback(
          option, [text = std::move(text)] { throw CLI::CallForVersion(text(), CLI::ExitCodes::Success); }, help)
      ->trigger_on_parse(); // CLI11 2.6 would miss the command first
}

CLI::App& CommandLine::add(const Command& command, const std::string& help, Action action, const std::string& usage) {
  auto* app = app_.add_subcommand(command.name, command.text);
  app->footer(help);
  if (!usage.empty()) {
    app->formatter(std::make_shared<HelpFormatter>(std::string{"gputest "} + command.name + " " + usage));
  }
  commands_[app] = {std::move(action), !usage.empty()};
  return *app;
}

int CommandLine::interpret(const std::vector<std::string>& arguments) {
  const std::string commands = "the commands are run, devices, status, needs, plan, slurm, report and merge";
  // CLI11 reads `--` in a subcommand as its end and continues with the parent command, so `--` is hidden from it.
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  try {
    std::vector<std::string> words{arguments.begin(), dashes};
    std::reverse(words.begin(), words.end()); // the order in which CLI11 wants them
    app_.parse(std::move(words));
  } catch (const CLI::RequiredError&) { // nothing else is required
    return refuse(app_, arguments.empty() ? "the command is missing; " + commands
                                          : "'" + arguments.front() + "' is not a command; " + commands);
  } catch (const CLI::ExtrasError& error) {
    const auto commands_read = app_.get_subcommands();
    const auto extras = commands_read.empty() ? std::vector<std::string>{} : commands_read.front()->remaining();
    return refuse(app_, !extras.empty() && is_option(extras.front())
                            ? unknown_option(*commands_read.front(), extras.front())
                            : error.what());
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code() == 0 ? app_.exit(error) : refuse(app_, error.what());
  } catch (const Error& error) { // a value that an option cannot have is InvalidSetting
    return refuse(app_, error.what());
  }
  const auto* command = app_.get_subcommands().front();
  const auto& known = commands_.at(command);
  auto words = command->remaining();
  if (!words.empty() && is_option(words.front())) {
    return refuse(app_,
                  unknown_option(*command, words.front()) + ". A command whose name begins with '-' stands after '--'");
  }
  if (dashes != arguments.end() && !known.takes_words) {
    return refuse(
        app_, "only 'gputest run' takes a command after '--', and 'gputest plan' and 'gputest slurm' options of ctest");
  }
  words.insert(words.end(), dashes, arguments.end());
  if (!words.empty() && words.front() == "--") {
    words.erase(words.begin());
  }
  try {
    return to_int(known.action(words));
  } catch (const WrongCommandLine& error) {
    return refuse(app_, error.what());
  }
}

int CommandLine::run(const std::vector<std::string>& arguments) {
  try {
    const int code = interpret(arguments);
    if (is_output_written()) {
      return code;
    }
  } catch (const InvalidSetting& error) {
    return fail(ExitCode::unusable_setting, error.what());
  } catch (const std::exception& error) {
    if (is_output_written()) { // else fmt cannot say what was lost
      return fail(ExitCode::internal_error, error.what());
    }
  }
  return fail(ExitCode::internal_error,
              "the result could not be written to standard output (a full disk, or a closed descriptor), so what was "
              "written is incomplete: do not use it, and write it elsewhere");
}

std::string exit_codes(std::map<ExitCode, std::string> of_command) {
  of_command.insert(
      {{ExitCode::done, "success"},
       {ExitCode::wrong_command_line, "the command line is wrong"},
       {ExitCode::internal_error, "internal error, or the output cannot be written, or the ledger cannot be used"},
       {ExitCode::unusable_setting, "an environment variable is unknown, or has an invalid value"}});
  std::string text = "\nExit codes:\n";
  for (const auto& [code, meaning] : of_command) {
    text += fmt::format("  {:>3}  {}\n", to_int(code), meaning);
  }
  return text;
}

void add_test_dir(CLI::App& command, std::string& folder, const std::string& text) {
  const auto set = [&folder](const std::string& name) { // absolute, as messages name it
    std::error_code none;
    const auto path = std::filesystem::weakly_canonical(std::filesystem::absolute(name, none), none).string();
    folder = path.empty() ? name : path;
  };
  set(folder);
  command.add_option_function<std::string>("--test-dir", set, text + " (default: the current folder)")
      ->type_name("DIR");
}

void add_place_of_logs(CLI::App& command, std::string& folder, std::string& log) {
  add_test_dir(command, folder, "where ctest was started");
  command.add_option("--log", log, "a run log, or a folder of them (default: GPUTEST_LOG, or DIR/Testing/gputest)")
      ->type_name("PATH");
}

} // namespace gputest::tool
