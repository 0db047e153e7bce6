// SPDX-License-Identifier: BSD-3-Clause
#include "tool/application.hpp"

#include "core/os/environment.hpp"
#include "core/os/process.hpp"
#include "core/os/program_output.hpp"
#include "core/os/reason.hpp"
#include "core/policy/nearest_name.hpp"
#include "tool/command_line.hpp"
#include "tool/devices_command.hpp"
#include "tool/exit_codes.hpp"
#include "tool/resource_spec_command.hpp"
#include "tool/run_command.hpp"
#include "tool/status_command.hpp"

#include <gputest/error.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

namespace gputest::tool {

namespace {

/// A wrong command line that CLI11 itself accepts.
class WrongCommandLine : public Error {
public:
  using Error::Error;
};

bool is_option(const std::string& word) { return word.compare(0, 1, "-") == 0; }

/// What to say of an option that a command of the tool does not have.
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

/// What is left of the words before `--`, and the words after it, as one command.
std::vector<std::string> command_of(const CLI::App& run, const std::optional<std::vector<std::string>>& after_dashes) {
  std::vector<std::string> command = run.remaining();
  if (!command.empty() && is_option(command.front())) {
    throw WrongCommandLine{unknown_option(run, command.front()) +
                           ". A command whose name begins with '-' stands after '--'"};
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

/// Why `--large` says nothing of what is run; empty if it does. gpu_add_test() refuses LARGE for the same reason.
std::string why_large_is_unused(const RunArguments& arguments) {
  if (!arguments.large) {
    return "";
  }
  const Request request = run_of(arguments, os::read_variable).entry.request;
  return request.memory_class == MemoryClass::large
             ? ""
             : fmt::format(
                   "--large {} is for large tests, but the memory is {}; write --memory large, or leave --large "
                   "out",
                   to_string(*arguments.large),
                   request.bytes ? to_string(*request.bytes) : std::string{to_string(request.memory_class)});
}

/// Throws WrongCommandLine for what CLI11 cannot know of `gputest plan`.
void check(const PlanArguments& plan) {
  if (plan.shard > plan.shards) {
    throw WrongCommandLine{
        fmt::format("--shard {} of --shards {}: write a number from 1 to {}", plan.shard, plan.shards, plan.shards)};
  }
  const auto selects = [](const std::string& option) { return option != "-C" && option != "--build-config"; };
  const auto& options = plan.ctest_options;
  if (plan.numbers && !options.empty() && (options.size() != 2 || selects(options.front()))) {
    throw WrongCommandLine{"--numbers are those of all tests of ctest; write only -C CONFIG after '--'"};
  }
}

/// `app` names the command, if there is one, whose help is the one to read.
int refuse(const CLI::App& app, const std::string& why) {
  const auto commands = app.get_subcommands();
  fmt::print(stderr, "gputest: {}\nSee 'gputest {}--help'.\n", why,
             commands.empty() ? "" : commands.front()->get_name() + " ");
  return to_int(ExitCode::wrong_command_line);
}

bool is_insight(const std::string& command) {
  return command == "plan" || command == "report" || command == "classify" || command == "isolate";
}

/// Becomes gputest-insights, which is beside this tool where it was built, or where programs for programs are
/// installed. Returns only if that fails.
int start_insights(std::vector<std::string> arguments) {
  const auto tool = std::filesystem::path{os::executable_of(os::own_pid()).value_or("")}.parent_path();
  const auto command = arguments.front();
  auto program = tool / "gputest-insights";
  if (const auto installed = tool / GPUTEST_PROGRAMS_FROM_TOOL / "gputest-insights";
      os::why_not_executable(program.string()) != 0) {
    program = installed;
  }
  arguments.insert(arguments.begin(), program.string());
  const int error = os::become(std::move(arguments));
  fmt::print(
      stderr,
      "gputest: 'gputest {}' is done by the program gputest-insights, which cannot be started: {} ({}). It belongs to "
      "an installed gputest; where gputest is a part of another project, configure that with "
      "-DGPUTEST_BUILD_INSIGHTS=ON and build the target gputest_insights\n",
      command, program.lexically_normal().string(), os::reason(error));
  return to_int(ExitCode::not_found);
}

int interpret(const std::vector<std::string>& arguments, const Insights* insights) {
  CommandLine line;
  auto& run = line.run;
  const auto app = describe_command_line(line);
  const auto* run_app = app->get_subcommand("run");
  const auto* devices_app = app->get_subcommand("devices");
  const auto* plan_app = app->get_subcommand("plan");
  const auto* report_app = app->get_subcommand("report");
  const auto* classify_app = app->get_subcommand("classify");
  const auto* isolate_app = app->get_subcommand("isolate");

  const std::string commands = "the commands are run, devices, status, plan, report, classify and isolate";
  // CLI11 reads `--` in a subcommand as its end and continues with the parent command, so `--` is hidden from it.
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  std::optional<std::vector<std::string>> after_dashes;
  if (dashes != arguments.end()) {
    after_dashes.emplace(dashes + 1, arguments.end());
  }
  try {
    std::vector<std::string> words{arguments.begin(), dashes};
    std::reverse(words.begin(), words.end()); // the order in which CLI11 wants them
    app->parse(std::move(words));
    if (run_app->parsed()) {
      run.command = command_of(*run_app, after_dashes);
    } else if (plan_app->parsed()) {
      line.plan.ctest_options = after_dashes.value_or(std::vector<std::string>{});
      check(line.plan);
    } else if (isolate_app->parsed()) {
      line.isolate.ctest_options = after_dashes.value_or(std::vector<std::string>{});
    } else if (after_dashes) {
      throw WrongCommandLine{"only 'gputest run' takes a command after '--', and 'gputest plan' and 'gputest isolate' "
                             "options of ctest"};
    }
  } catch (const CLI::RequiredError&) { // nothing else is required
    return refuse(*app, arguments.empty() ? "the command is missing; " + commands
                                          : "'" + arguments.front() + "' is not a command; " + commands);
  } catch (const CLI::ExtrasError& error) {
    for (const auto* command : app->get_subcommands()) {
      if (const auto extras = command->remaining(); !extras.empty() && is_option(extras.front())) {
        return refuse(*app, unknown_option(*command, extras.front()));
      }
    }
    return refuse(*app, error.what());
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code() == 0 ? app->exit(error) : refuse(*app, error.what());
  } catch (const Error& error) { // a value that an option cannot have is InvalidSetting
    return refuse(*app, error.what());
  }

  if (run_app->parsed()) {
    if (const auto why = why_large_is_unused(run); !why.empty()) {
      return refuse(*app, why);
    }
    return to_int(run_command(run));
  }
  if (plan_app->parsed()) {
    return to_int(insights->plan(line.plan));
  }
  if (classify_app->parsed()) {
    return to_int(insights->classify(line.classify));
  }
  if (isolate_app->parsed()) {
    return to_int(insights->isolate(line.isolate));
  }
  if (report_app->parsed()) {
    return to_int(insights->report(line.report));
  }
  if (!line.resource_spec_folder.empty()) {
    return to_int(resource_spec_command(line.resource_spec_folder));
  }
  return to_int(devices_app->parsed() ? devices_command(line.json) : status_command(line.json));
}

int fail(ExitCode code, const std::exception& error) {
  fmt::print(stderr, "gputest: {}\n", error.what());
  return to_int(code);
}

/// Whether all of a command's output was written. A part of a list of tests must not be taken for all of it.
bool is_output_written() { return std::fflush(stdout) == 0 && std::ferror(stdout) == 0; }

} // namespace

int run_application(const std::vector<std::string>& arguments, const Insights* insights) {
  try {
    if (insights == nullptr && !arguments.empty() && is_insight(arguments.front())) {
      return start_insights(arguments);
    }
    const int code = interpret(arguments, insights);
    if (is_output_written()) {
      return code;
    }
  } catch (const InvalidSetting& error) {
    return fail(ExitCode::unusable_setting, error);
  } catch (const std::exception& error) {
    if (is_output_written()) { // else fmt cannot say what was lost
      return fail(ExitCode::internal_error, error);
    }
  }
  return fail(ExitCode::internal_error,
              Error{"the result could not be written to standard output (a full disk, or a closed descriptor), so what "
                    "was written is incomplete: do not use it, and write it elsewhere"});
}

} // namespace gputest::tool
