#include "cli/application.hpp"

#include "cli/devices_command.hpp"
#include "cli/exit_codes.hpp"
#include "cli/help_texts.hpp"
#include "cli/run_command.hpp"
#include "cli/status_command.hpp"

#include <gputest/error.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

namespace gputest::cli {

namespace {

/// A wrong command line that CLI11 itself accepts.
class WrongCommandLine : public Error {
public:
  using Error::Error;
};

/// CLI11's formatter with our own usage line: CLI11 cannot know that a command follows the options.
class UsageFormatter : public CLI::Formatter {
public:
  explicit UsageFormatter(std::string usage) : usage_{std::move(usage)} {}
  std::string make_usage(const CLI::App* /*app*/, std::string /*name*/) const override {
    return "Usage: " + usage_ + "\n";
  }

private:
  std::string usage_;
};

CLI::App* add_run(CLI::App& app, RunArguments& run) {
  auto* command = app.add_subcommand("run", "Wait for GPU memory, then run a command that uses it");
  command->formatter(std::make_shared<UsageFormatter>("gputest run [OPTIONS] [--] COMMAND [ARGUMENT...]"));
  command->footer(run_help());
  // The command begins at the first word that is not an option.
  command->prefix_command();
  const auto add = [&](const char* name, const char* values, const char* text, auto set) {
    command->add_option_function<std::string>(name, std::move(set), text)->type_name(values);
  };
  add("--memory", "M", "small, medium, large, or a size such as 3GiB, per device (GPUTEST_MEMORY)",
      [&run](const std::string& value) { run.memory = parse_request(value, "--memory"); });
  command->add_option("--gpus", run.gpus, "number of GPUs (GPUTEST_GPUS)")->type_name("N")->check(CLI::Range(1, 16));
  add("--requires", "WORDS", "what each GPU must have, such as \"memory_pools sm_80\" (GPUTEST_REQUIRES)",
      [&run](const std::string& value) { run.required = parse_capabilities(value, "--requires"); });
  add("--large", "POLICY", "what a large test does while others run: exclude, serial or wait (GPUTEST_LARGE)",
      [&run](const std::string& value) { run.large = parse_large_policy(value, "--large"); });
  add("--name", "TEST", "the test's name, for messages and 'gputest status' (GPUTEST_TEST)",
      [&run](const std::string& value) { run.name = value; });
  add("--wait-limit", "D", "longest wait, as 90s, 20min or 1h (GPUTEST_WAIT_LIMIT)",
      [&run](const std::string& value) { run.wait_limit = settings::parse_duration(value, "--wait-limit"); });
  command->add_flag("--require-gpu", run.require_gpu, "fail instead of skip if there is no GPU (GPUTEST_REQUIRE_GPU)");
  return command;
}

CLI::App* add_report(CLI::App& app, const char* name, const char* text, const std::string& help, bool& json) {
  auto* command = app.add_subcommand(name, text);
  command->footer(help);
  command->add_flag("--json", json, "print JSON, for programs");
  return command;
}

/// What is left of the words before `--`, and the words after it, as one command.
std::vector<std::string> command_of(const std::vector<std::string>& remaining,
                                    const std::optional<std::vector<std::string>>& after_dashes) {
  std::vector<std::string> command = remaining;
  if (!command.empty() && command.front().compare(0, 1, "-") == 0) {
    throw WrongCommandLine{"unknown option '" + command.front() +
                           "'; write a command whose name begins with '-' after '--'"};
  }
  if (after_dashes) {
    if (!command.empty()) {
      command.emplace_back("--"); // the command has begun already, so this word belongs to it
    }
    command.insert(command.end(), after_dashes->begin(), after_dashes->end());
  }
  if (command.empty()) {
    throw WrongCommandLine{"there is no command to run; write 'gputest run [OPTIONS] -- COMMAND [ARGUMENT...]'"};
  }
  return command;
}

int refuse(const std::string& why) {
  fmt::print(stderr, "gputest: {}\nSee 'gputest --help'.\n", why);
  return to_int(ExitCode::wrong_command_line);
}

int interpret(const std::vector<std::string>& arguments) {
  RunArguments run;
  bool json = false;
  CLI::App app{"Lets GPU tests share the memory of this machine's GPUs without running out of it.", "gputest"};
  app.set_version_flag("--version", "gputest " GPUTEST_VERSION);
  app.footer(main_help());
  const auto* run_app = add_run(app, run);
  const auto* devices_app =
      add_report(app, "devices", "Show the GPUs, and how much of each is free", devices_help(), json);
  add_report(app, "status", "Show which processes hold GPU memory, and which wait for it", status_help(), json);
  app.require_subcommand(1);

  // CLI11 reads `--` in a subcommand as its end and continues with the parent command, so `--` is hidden from it.
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  std::optional<std::vector<std::string>> after_dashes;
  if (dashes != arguments.end()) {
    after_dashes.emplace(dashes + 1, arguments.end());
  }
  try {
    std::vector<std::string> words{arguments.begin(), dashes};
    std::reverse(words.begin(), words.end()); // the order in which CLI11 wants them
    app.parse(std::move(words));
    if (run_app->parsed()) {
      run.command = command_of(run_app->remaining(), after_dashes);
    } else if (after_dashes) {
      throw WrongCommandLine{"only 'gputest run' takes a command after '--'"};
    }
  } catch (const CLI::RequiredError&) { // nothing else is required
    return refuse(arguments.empty()
                      ? "the command is missing; the commands are run, devices and status"
                      : "'" + arguments.front() + "' is not a command; the commands are run, devices and status");
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code() == 0 ? app.exit(error) : refuse(error.what());
  } catch (const Error& error) { // a value that an option cannot have is InvalidSetting
    return refuse(error.what());
  }

  if (run_app->parsed()) {
    return to_int(run_command(run));
  }
  return to_int(devices_app->parsed() ? devices_command(json) : status_command(json));
}

int fail(ExitCode code, const std::exception& error) {
  fmt::print(stderr, "gputest: {}\n", error.what());
  return to_int(code);
}

} // namespace

int run_application(const std::vector<std::string>& arguments) {
  try {
    return interpret(arguments);
  } catch (const InvalidSetting& error) {
    return fail(ExitCode::unusable_setting, error);
  } catch (const std::exception& error) {
    return fail(ExitCode::internal_error, error);
  }
}

} // namespace gputest::cli
