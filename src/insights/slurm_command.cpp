// SPDX-License-Identifier: BSD-3-Clause
#include "insights/array_engine.hpp"
#include "insights/array_run.hpp"
#include "insights/commands.hpp"
#include "insights/merge.hpp"
#include "insights/text_file.hpp"

#include "core/os/interruption.hpp"
#include "core/policy/text.hpp"
#include "tool/table.hpp"

#include <gputest/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/interprocess/sync/file_lock.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>

namespace gputest::insights {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char* slurm_help =
    R"text(Splits the tests of ctest into tasks of about equal time, runs them as a job array of Slurm, and prints and exits as one ctest.
Each task runs one ctest. Tests that lost their task (a node was lost, a task was killed, its time was over) run once more in
a second array. A test that ran when its task was killed runs alone then; if it does so again, it has failed.

Start it on a login node. DIR and the run's folder have to be on a file system that all nodes share. The folder has the
results, merged.xml and merged.jsonl, and all that --resume needs. Ctrl-C and SIGTERM cancel the array.
Times for the split are those of the last run in DIR/Testing/gputest-slurm, or of --times.

Examples:
  gputest slurm --test-dir build --nodes 4 --gpus-per-node 1 --sbatch "--cpus-per-task=16 --time=30" -- -j16 -L gpu
  gputest slurm --resume build/Testing/gputest-slurm/20261123T101500Z-a1b2c3
)text";

struct SlurmOptions {
  ArrayRunOptions run;
  std::string junit;  ///< to write; empty: only merged.xml of the run's folder
  std::string log;    ///< to write; empty: only merged.jsonl, if there are run logs
  std::string resume; ///< a folder; empty: a new run
  bool dry_run = false;
};

void say(const std::string& text) { fmt::print(stderr, "gputest: {}\n", tool::printable(text)); }

std::string resume_command(const ArrayRun& run) {
  return policy::shell_words({"gputest", "slurm", "--resume", run.folder()});
}

/// Where the tasks run that have not ended, and why others wait.
std::string in_words(const std::map<std::size_t, ArrayEngine::Task>& state) {
  std::set<std::string> nodes;
  std::set<std::string> reasons;
  std::size_t running = 0;
  for (const auto& [number, task] : state) {
    (task.running ? nodes : reasons).insert(task.note);
    running += task.running ? 1 : 0;
  }
  nodes.erase("");
  auto text =
      fmt::format("{} running", running) + (nodes.empty() ? "" : " on " + policy::counted(nodes.size(), "node"));
  if (const auto waiting = state.size() - running; waiting > 0) {
    text += fmt::format(", {} waiting", waiting) + (running > 0 ? "" : fmt::format(" {}", fmt::join(reasons, ", ")));
  }
  return text;
}

/// Follows one array until it has ended, or the run's folder is gone. 0, or the signal that interrupted it.
int follow(const ArrayRun& run, const ArrayTry& array, const ArrayEngine& engine,
           const os::Interruption& interruption) {
  struct Sums {
    std::size_t ended = 0;
    std::size_t failed = 0;
  };
  std::string last;
  Clock::time_point next{};
  const auto begun = Clock::now();
  const auto id = array.id();
  auto unfinished = array.tasks;
  std::size_t tests = 0;
  std::for_each(unfinished.begin(), unfinished.end(), [&](const ArrayTask& task) { tests += task.tests.size(); });
  Sums of_ended; // tasks
  for (bool ended = false;;) {
    Sums of_running;
    const auto has_ended = [&](const ArrayTask& task) {
      const bool has_results = task.has_results();
      const auto results = run.progress_of(task).ended;
      auto& sums = has_results ? of_ended : of_running;
      sums.ended += has_results ? task.tests.size() : results.size();
      sums.failed += static_cast<std::size_t>(std::count_if(results.begin(), results.end(), [](const auto& result) {
        return result.second.verdict <= TestVerdict::not_run;
      }));
      return has_results;
    };
    unfinished.erase(std::remove_if(unfinished.begin(), unfinished.end(), has_ended), unfinished.end());
    if (unfinished.empty() || ended || run.is_gone()) {
      return 0;
    }
    std::string why;
    const auto state = engine.state(id, why);
    // What has ended since has_results() has left its results: look once more.
    ended = state && std::none_of(unfinished.begin(), unfinished.end(),
                                  [&](const ArrayTask& task) { return state->count(task.number) != 0; });
    const auto now = Clock::now();
    const auto done = std::min(of_ended.ended + of_running.ended, tests); // ctest adds tests of fixtures
    const auto text = state ? fmt::format("{} of {} ended, {} failed; {} of {} ended, {}; array {}", done,
                                          policy::counted(tests, "test"), of_ended.failed + of_running.failed,
                                          array.tasks.size() - unfinished.size(),
                                          policy::counted(array.tasks.size(), "task"), in_words(*state), id)
                            : fmt::format("array {}: its state is not known now: {}", id, why);
    const auto columns = os::columns_of_errors();
    if (columns > 0) { // a terminal: the line is there during the pause
      fmt::print(stderr, "{}", tool::printable(text.substr(0, columns - 1)));
    } else if (text != last && now >= next) {
      say(text);
      last = text;
      next = now + std::chrono::minutes{1};
    }
    const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(now - begun);
    const auto pause = std::clamp(elapsed / 10, std::chrono::milliseconds{200}, std::chrono::milliseconds{5000});
    const int signal = interruption.wait_for(ended ? std::chrono::milliseconds{0} : pause);
    fmt::print(stderr, "{}", columns > 0 ? "\r\x1b[K" : "");
    if (signal != 0) {
      return signal;
    }
  }
}

/// Says what is known of the tasks that have ended without results.
void explain(const ArrayRun& run, const ArrayTry& array, const std::vector<ArrayTask>& given_up) {
  bool has_trace = given_up.size() < array.tasks.size();
  for (const auto& task : given_up) {
    const auto node = task.text_of("node");
    const auto error = task.text_of("error");
    has_trace = has_trace || !node.empty();
    say(fmt::format("task {} of {}{} ended without results: {}", task.number, array.folder,
                    node.empty() ? "" : " on " + node,
                    !error.empty()  ? error
                    : !node.empty() ? "it was killed, its time was over, or its node was lost"
                                    : "it has not begun"));
  }
  std::error_code none;
  if (const auto space = fs::space(run.folder(), none); !given_up.empty() && !none && space.available < (1U << 20U)) {
    say(fmt::format("the disk of {} is full. Make room there", run.folder()));
  } else if (!has_trace) {
    say(fmt::format(
        "no task has left a file in {}. Either the array was cancelled before its tasks began, or its tasks could not "
        "start, or the nodes do not share this folder: see whether a node has it, and write --folder with one that "
        "they share",
        array.folder));
  }
}

/// Runs arrays until each test has a result, or the tries are over.
void run_to_end(const ArrayRun& run, bool is_new, std::size_t most_tries) {
  const os::Interruption interruption;
  const ArrayEngine engine{run.engine()};
  for (;;) {
    const auto arrays = run.tries();
    const auto& array = arrays.back();
    if (!array.is_cancelled()) {
      if (array.id().empty()) {
        try {
          array.submit(engine);
        } catch (const Error& error) {
          if (const int signal = interruption.wait_for(std::chrono::milliseconds{0}); signal != 0) {
            say(fmt::format("{}. To go on: {}", error.what(), resume_command(run)));
            os::Interruption::end_by(signal);
          }
          std::error_code none;
          if (is_new && arrays.size() == 1 && !fs::exists(array.folder + "/submitting", none) &&
              !fs::exists(array.tasks.front().folder + "/begun", none)) {
            fs::remove_all(run.folder(), none); // nothing has run
            throw;
          }
          throw Error{fmt::format("{}. No result is lost. To go on: {}", error.what(), resume_command(run))};
        }
        say(fmt::format("array {}: {}, in {}", array.id(), policy::counted(array.tasks.size(), "task"), array.folder));
      }
      const auto id = array.id();
      const int signal = follow(run, array, engine, interruption);
      if (const bool is_gone = run.is_gone(); signal != 0 || is_gone) {
        auto end = "cancelled the array " + id;
        try {
          engine.cancel(id);
        } catch (const Error& error) {
          end = std::string{error.what()} + ". It may still run";
        }
        if (is_gone) {
          end = fmt::format("the folder {} of the run is gone, and its results are lost: {}", run.folder(), end);
        } else {
          try {
            array.set_cancelled();
          } catch (const Error& error) {
            end += std::string{". "} + error.what();
          }
          end += ". Tests that have ended keep their results. To go on: " + resume_command(run);
        }
        if (signal == 0) {
          throw Error{end};
        }
        say(end);
        os::Interruption::end_by(signal);
      }
    }
    if (const auto given_up = run.give_up_unfinished(array); !given_up.empty()) {
      explain(run, array, given_up);
      try {
        engine.cancel(array.id()); // if the queue has lost sight of a task, its tests must not run twice at once
      } catch (const Error&) {     // there is no such array any more
      }
    }
    if (const int signal = interruption.wait_for(std::chrono::milliseconds{0}); signal != 0) {
      say("interrupted. To go on: " + resume_command(run));
      os::Interruption::end_by(signal);
    }
    const auto counted =
        std::count_if(arrays.begin(), arrays.end(), [](const auto& each) { return !each.is_cancelled(); });
    if (static_cast<std::size_t>(counted) >= most_tries || !run.add_try()) {
      return;
    }
  }
}

void copy(const std::string& from, const std::string& to) {
  if (!to.empty()) {
    write_text(to, read_text(from));
  }
}

tool::ExitCode merge(const ArrayRun& run, const SlurmOptions& options) {
  MergeOptions merge;
  merge.suite = run.folder() + "/suite.json";
  merge.junit = run.folder() + "/merged.xml";
  bool has_log = !options.log.empty();
  std::vector<std::string> remarks;
  for (const auto& array : run.tries()) {
    for (const auto& task : array.tasks) {
      merge.shards.push_back(task.folder);
      std::error_code none;
      has_log = has_log || fs::exists(task.folder + "/Testing/gputest", none);
      if (const auto remark = task.text_of("remark"); !remark.empty()) {
        remarks.push_back(
            fmt::format("task {} of {} on {}: {}", task.number, array.folder, task.text_of("node"), remark));
      }
    }
  }
  merge.log = has_log ? run.folder() + "/merged.jsonl" : "";
  merge.may_lack_log = true;
  const auto result = merge_shards(merge);
  if (result != tool::ExitCode::done) {
    std::for_each(remarks.begin(), remarks.end(), say);
  }
  copy(merge.junit, options.junit);
  if (std::error_code none; fs::exists(merge.log, none)) {
    copy(merge.log, options.log);
  }
  say("results, with the outputs of failed tests: " + merge.junit);
  return result;
}

tool::ExitCode slurm(const SlurmOptions& options) {
  const bool is_new = options.resume.empty();
  for (const auto& file : {options.junit, options.log}) {
    std::error_code none;
    const auto folder = fs::absolute(file, none).parent_path();
    if (!file.empty() && !fs::is_directory(folder, none)) {
      throw tool::WrongCommandLine{file + " cannot be written: there is no folder " + folder.string()};
    }
  }
  if (!is_new && !options.run.ctest_options.empty()) {
    throw tool::WrongCommandLine{
        "--resume goes on with the options of ctest that the run has; leave out what is after '--'"};
  }
  const auto run =
      is_new ? ArrayRun::create(options.run) : ArrayRun{fs::absolute(options.resume).lexically_normal().string()};
  if (run.tries().empty()) {
    throw Error{run.folder() +
                " has no array yet: its 'gputest slurm' was ended too early. Remove it, and start a new run"};
  }
  if (options.dry_run) {
    const auto array = run.tries().front();
    for (const auto& script : {run.engine(), array.script()}) {
      fmt::print("# {}\n{}\n", script, read_text(script));
    }
    fmt::print("# These run it, and join the results:\n# {}\n# {}\n",
               policy::shell_words({run.engine(), "submit", array.script(), std::to_string(array.tasks.size())}),
               policy::shell_words({"gputest", "merge", "--suite", run.folder() + "/suite.json"}) + " " +
                   policy::shell_words({array.folder}) + "/task-*");
    return tool::ExitCode::done;
  }
  boost::interprocess::file_lock lock{(run.folder() + "/lock").c_str()};
  if (!lock.try_lock()) {
    throw Error{"another 'gputest slurm' follows the run " + run.folder() +
                ". Wait for it, or end it with Ctrl-C there"};
  }
  run_to_end(run, is_new, is_new || options.run.tries == 0 ? run.most_tries() : options.run.tries);
  return merge(run, options);
}

} // namespace

void add_slurm(tool::CommandLine& line) {
  const auto options = std::make_shared<SlurmOptions>();
  auto& command = line.add(
      tool::slurm_command,
      slurm_help + tool::exit_codes({{tool::ExitCode::tests_failed, "as ctest: a test failed, or has no result"}}),
      [options](const std::vector<std::string>& words) {
        options->run.ctest_options = words;
        return slurm(*options);
      },
      "[OPTIONS] [-- CTEST_OPTION...]");
  auto& run = options->run;
  tool::add_test_dir(command, run.test_dir, "where ctest would be started");
  command.add_option("--nodes", run.nodes, "run at most N tasks at once, each on one node (default: 4)")
      ->type_name("N")
      ->check(CLI::Range(1, 10000));
  command.add_option("--shards", run.shards, "split the suite into K tasks (default: 4 for each node)")
      ->type_name("K")
      ->check(CLI::Range(1, 10000));
  command.add_option("--gpus-per-node", run.gpus_per_node, "ask Slurm for G GPUs for each task")
      ->type_name("G")
      ->check(CLI::Range(1, 1000));
  command.add_option("--sbatch", run.sbatch, "more options of sbatch, as a shell reads them")->type_name("OPTIONS");
  command.add_option("--tries", run.tries, "submit at most T arrays: what is missing runs again (default: 2)")
      ->type_name("T")
      ->check(CLI::Range(1, 100));
  command.add_option("--times", run.times, "run log with the times for the split (default: that of the last run)")
      ->type_name("FILE");
  command.add_option("--folder", run.folder, "the run's folder (default: a new one in DIR/Testing/gputest-slurm)")
      ->type_name("DIR");
  command.add_option("--junit", options->junit, "JUnit file to write, with each test once")->type_name("FILE");
  command.add_option("--log", options->log, "run log to write, for report and plan")->type_name("FILE");
  auto* engine = command.add_option("--engine", run.engine, "a program for another batch system than Slurm");
  engine->type_name("PROGRAM");
  for (const auto* const of_slurm : {"--nodes", "--gpus-per-node", "--sbatch"}) {
    engine->excludes(command.get_option(of_slurm));
  }
  command.add_flag("--dry-run", options->dry_run, "write and print the scripts, and submit nothing");
  auto* resume =
      command.add_option("--resume", options->resume, "go on with the run that has this folder")->type_name("DIR");
  for (const auto* const of_new : {"--test-dir", "--nodes", "--shards", "--gpus-per-node", "--sbatch", "--times",
                                   "--folder", "--engine", "--dry-run"}) {
    resume->excludes(command.get_option(of_new));
  }
}

} // namespace gputest::insights
