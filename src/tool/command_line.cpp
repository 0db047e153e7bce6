// SPDX-License-Identifier: BSD-3-Clause
#include "tool/command_line.hpp"

#include "tool/help_texts.hpp"

#include <gputest/error.hpp>

#include <CLI/CLI.hpp>

#include <string>
#include <utility>

namespace gputest::tool {

namespace {

/// CLI11's formatter, with footers as they are written: newer versions of CLI11 make paragraphs of them, but they are
/// tables.
class HelpFormatter : public CLI::Formatter {
public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    auto text = CLI::Formatter::make_help(app, std::move(name), mode);
    text.erase(text.find_last_not_of('\n') + 1);
    return text + "\n\n" + app->get_footer() + "\n";
  }
  std::string make_footer(const CLI::App* /*app*/) const override { return ""; }
};

/// That with our own usage line: CLI11 cannot know that a command follows the options.
class UsageFormatter : public HelpFormatter {
public:
  explicit UsageFormatter(std::string usage) : usage_{std::move(usage)} {}
  std::string make_usage(const CLI::App* /*app*/, std::string /*name*/) const override {
    return "Usage: " + usage_ + "\n";
  }

private:
  std::string usage_;
};

void add_run(CLI::App& app, RunArguments& run) {
  auto* command = app.add_subcommand("run", "Wait for GPU memory, then run a command that uses it");
  command->formatter(std::make_shared<UsageFormatter>("gputest run [OPTIONS] [--] COMMAND [ARGUMENT...]"));
  command->footer(run_help());
  // The command begins at the first word that is not an option.
  command->prefix_command();
  const auto add = [&](const char* name, const char* values, const char* text, auto set) {
    command->add_option_function<std::string>(name, std::move(set), text)->type_name(values);
  };
  add("--memory", "small|medium|large|SIZE", "memory per device; a size is such as 3GiB (GPUTEST_MEMORY)",
      [&run](const std::string& value) { run.memory = parse_request(value, "--memory"); });
  command->add_option("--gpus", run.gpus, "number of GPUs (GPUTEST_GPUS)")->type_name("N")->check(CLI::Range(1, 16));
  add("--requires", "WORDS", "what each GPU must have, such as \"memory_pools sm_80\" (GPUTEST_REQUIRES)",
      [&run](const std::string& value) { run.required = parse_capabilities(value, "--requires"); });
  add("--large", "exclude|serial|wait", "what a large test does while others run (GPUTEST_LARGE)",
      [&run](const std::string& value) { run.large = parse_large_policy(value, "--large"); });
  add("--name", "TEST", "the test's name, for messages and 'gputest status' (GPUTEST_TEST)",
      [&run](const std::string& value) { run.name = value; });
  add("--wait-limit", "DURATION", "longest wait, as 90s, 20min or 1h (GPUTEST_WAIT_LIMIT)",
      [&run](const std::string& value) { run.wait_limit = settings::parse_duration(value, "--wait-limit"); });
  command->add_flag("--require-gpu", run.require_gpu, "fail instead of skip if there is no GPU (GPUTEST_REQUIRE_GPU)");
  command->add_flag("--if-gpu", run.if_gpu,
                    "run the command at once and without a lease if it uses no GPU, or if there is none");
}

policy::SimulatedDevices parse_devices(const std::string& value) try {
  return policy::parse_simulated_devices(value);
} catch (const InvalidSetting& error) {
  throw InvalidSetting{"--devices " + value + ": " + error.what() + "; write such as 8x80GiB"};
}

std::chrono::duration<double> checked_context_time(double seconds) {
  if (!(seconds >= 0 && seconds <= 60)) { // nor is NaN
    throw InvalidSetting{"--context-time is not a time from 0 to 60 seconds; write such as 0.19"};
  }
  return std::chrono::duration<double>{seconds};
}

void add_test_dir(CLI::App& command, std::string& folder, const std::string& text) {
  command.add_option("--test-dir", folder, text + " (default: the current folder)")->type_name("DIR");
}

/// What a command needs that reads the logs of runs.
void add_place_of_logs(CLI::App& command, std::string& folder, std::string& log) {
  add_test_dir(command, folder, "where ctest was started");
  command.add_option("--log", log, "a run log, or a folder of them (default: GPUTEST_LOG, or DIR/Testing/gputest)")
      ->type_name("PATH");
}

void add_plan(CLI::App& app, PlanArguments& plan) {
  auto* command = app.add_subcommand("plan", "Say how long a suite would take, what bounds it, and how to split it");
  command->formatter(std::make_shared<UsageFormatter>("gputest plan [OPTIONS] [-- CTEST_OPTION...]"));
  command->footer(plan_help());
  add_test_dir(*command, plan.folder, "where ctest is started");
  command->add_option("--times", plan.times, "a run log (default: those in DIR; with --shards: none)")
      ->type_name("FILE");
  command
      ->add_option_function<std::string>(
          "--devices", [&plan](const std::string& value) { plan.devices = parse_devices(value); },
          "plan for other GPUs than this machine's, as 8x80GiB")
      ->type_name("NxSIZE");
  command->add_option("-j,--parallel", plan.jobs, "ctest's -j (default: the number of processors)")
      ->type_name("N")
      ->check(CLI::Range(1, 65536));
  command
      ->add_option_function<double>(
          "--context-time", [&plan](double value) { plan.context_time = checked_context_time(value); },
          "seconds in which CUDA starts in a process (default: 0.19; simulated GPUs: 0)")
      ->type_name("SECONDS");
  command->add_flag("--ledger-alone", plan.waits_in_job, "plan for a ctest that does not know the GPUs' memory");
  auto* shards = command->add_option("--shards", plan.shards, "split the suite into N shards of equal time")
                     ->type_name("N")
                     ->check(CLI::Range(1, 10000));
  auto* shard = command->add_option("--shard", plan.shard, "print the tests of shard I, from 1 to N, for ctest")
                    ->type_name("I")
                    ->check(CLI::Range(1, 10000))
                    ->needs(shards);
  command->add_flag("--numbers", plan.numbers, "print their numbers for ctest -I, in place of their names")
      ->needs(shard);
  command->add_option("--fingerprint", plan.fingerprint, "refuse another split than the one with this fingerprint")
      ->type_name("HEX")
      ->needs(shards);
  command->add_flag("--json", plan.json, "print JSON, for programs")->excludes(shard);
}

void add_report_of_run(CLI::App& app, ReportArguments& report) {
  auto* command = app.add_subcommand("report", "Show what happened in a run: a page with a time line, sums and waits");
  command->footer(report_help());
  add_place_of_logs(*command, report.folder, report.log);
  command->add_option("--output", report.output, "the page (default: gputest_report.html)")->type_name("FILE");
  command->add_option("--trace", report.trace, "a trace for Perfetto, in place of the page unless --output is given")
      ->type_name("FILE");
  command->add_option("INDEX", report.index, "what cmake_instrumentation() adds to a command; not read")
      ->type_name("FILE");
}

void add_classify(CLI::App& app, ClassifyArguments& classify) {
  auto* command = app.add_subcommand("classify", "Compare what tests declare with what was measured of them");
  command->footer(classify_help());
  add_place_of_logs(*command, classify.folder, classify.log);
  command->add_option("--source", classify.source, "folder of the tests' sources (default: that of the build tree)")
      ->type_name("DIR");
  command->add_flag("--check", classify.check, "end with 1 if a test uses more than it declares");
  auto* patch = command->add_flag("--patch", classify.patch, "print the changes as a diff for 'git apply'");
  command->add_flag("--json", classify.json, "print JSON, for programs")->excludes(patch);
}

void add_isolate(CLI::App& app, IsolateArguments& isolate) {
  auto* command = app.add_subcommand("isolate", "Find tests that pass or fail only because others ran before them");
  command->formatter(std::make_shared<UsageFormatter>("gputest isolate [OPTIONS] [-- CTEST_OPTION...]"));
  command->footer(isolate_help());
  add_test_dir(*command, isolate.folder, "where ctest is started");
  command->add_option("--shuffles", isolate.shuffles, "how many runs have a random order (default: 1)")
      ->type_name("N")
      ->check(CLI::Range(0, 1000));
  command->add_flag("--json", isolate.json, "print JSON, for programs");
}

CLI::App& add_report(CLI::App& app, const char* name, const char* text, const std::string& help, bool& json) {
  auto* command = app.add_subcommand(name, text);
  command->footer(help);
  command->add_flag("--json", json, "print JSON, for programs");
  return *command;
}

} // namespace

std::unique_ptr<CLI::App> describe_command_line(CommandLine& into) {
  auto app = std::make_unique<CLI::App>(
      "Lets GPU tests share the memory of this machine's GPUs without running out of it.", "gputest");
  app->formatter(std::make_shared<HelpFormatter>()); // of its commands, too, which are added below
  app->set_version_flag("--version", "gputest " GPUTEST_VERSION);
  app->footer(main_help());
  add_run(*app, into.run);
  add_report(*app, "devices", "Show the GPUs, and how much of each is free", devices_help(), into.json)
      .add_option("--resource-spec", into.resource_spec_folder,
                  "write a resource spec file for the ctest that runs this; used by gputest's CMake code")
      ->type_name("FOLDER")
      ->excludes("--json");
  add_report(*app, "status", "Show which processes hold GPU memory, and which wait for it", status_help(), into.json);
  add_plan(*app, into.plan);
  add_report_of_run(*app, into.report);
  add_classify(*app, into.classify);
  add_isolate(*app, into.isolate);
  app->require_subcommand(1);
  return app;
}

} // namespace gputest::tool
