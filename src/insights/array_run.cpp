// SPDX-License-Identifier: BSD-3-Clause
#include "insights/array_run.hpp"

#include "core/os/file.hpp"
#include "core/os/process.hpp"
#include "core/os/program_output.hpp"
#include "core/policy/text.hpp"
#include "insights/entry_runs.hpp"
#include "insights/follow_up.hpp"
#include "insights/merge.hpp"
#include "insights/shards.hpp"
#include "insights/text_file.hpp"
#include "tool/command_line.hpp"
#include "tool/table.hpp"

#include <gputest/error.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <sstream>
#include <utility>

namespace gputest::insights {

extern const char* const slurm_engine_sh;
extern const char* const array_task_sh;

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

Error cannot_write(const std::string& path, const std::error_code& error) {
  return Error{path + " cannot be written: " + os::reason(error.value())};
}

void write_program(const std::string& path, const std::string& text) {
  write_text(path, text);
  fs::permissions(path, fs::perms::owner_exec, fs::perm_options::add);
}

/// The file is there whole, or not at all. False: one was there, and stays.
bool publish(const std::string& path, const std::string& text) {
  const auto part = fmt::format("{}.{}.part", path, os::own_pid());
  write_text(part, text);
  std::error_code error;
  fs::create_hard_link(part, path, error);
  std::error_code none;
  fs::remove(part, none);
  if (error && error != std::errc::file_exists) {
    throw cannot_write(path, error);
  }
  return !error;
}

/// A folder of its own, whoever else makes one at the same time.
std::string make_folder(const ArrayRunOptions& options, const std::string& runs) {
  std::error_code error;
  if (!options.folder.empty()) {
    auto folder = fs::absolute(options.folder).lexically_normal().string();
    fs::create_directories(folder, error);
    if (error) {
      throw cannot_write(folder, error);
    }
    if (!fs::is_empty(folder) || !fs::create_directory(folder + "/.begun")) {
      throw Error{folder +
                  " is not empty. Write --folder with a new one, or --resume with that of a run that was begun"};
    }
    return folder;
  }
  fs::create_directories(runs, error);
  if (error) {
    throw cannot_write(runs, error);
  }
  auto folder = fmt::format("{}/{:%Y%m%dT%H%M%SZ}-XXXXXX", runs, fmt::gmtime(std::time(nullptr)));
  if (::mkdtemp(folder.data()) == nullptr) {
    throw cannot_write(folder, {errno, std::generic_category()});
  }
  return folder;
}

/// The times of the newest run there that has any.
std::map<std::string, double> last_times(const std::string& runs) {
  std::string last;
  std::error_code error;
  for (fs::directory_iterator run{runs, error}, end; !error && run != end; run.increment(error)) {
    const auto log = run->path() / "merged.jsonl";
    if (std::error_code none; fs::exists(log, none)) {
      last = std::max(last, log.string()); // their names begin with the time
    }
  }
  try {
    return times_of_split(last);
  } catch (const Error&) { // no test of gputest ran
    return {};
  }
}

std::string path_of_tool() {
  const auto own = fs::path{os::executable_of(os::own_pid()).value_or("")}.parent_path();
  std::error_code none;
  const auto beside = own / "gputest";
  return (fs::exists(beside, none) ? beside : own / GPUTEST_TOOL_FROM_PROGRAMS / "gputest").lexically_normal().string();
}

/// Names of tests that ended by themselves, as the run logs of a task say.
std::set<std::string> recorded_ends(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& file : files_in(folder + "/Testing/gputest", ".jsonl")) {
    std::error_code none;
    try {
      const auto log = parse_run_log(fs::is_regular_file(file, none) ? read_text(file) : "");
      for (const auto& [name, run] : entry_runs(log)) {
        if (run.ended_by_itself()) {
          names.insert(name);
        }
      }
    } catch (const Error&) { // it says nothing
    }
  }
  return names;
}

/// Without newlines at its end; empty: no such file.
std::string text_in(const std::string& file) {
  auto text = os::contents_of(file).value_or("");
  return text.erase(text.find_last_not_of('\n') + 1);
}

bool is_there(const std::string& path) {
  std::error_code none;
  return fs::exists(path, none);
}

} // namespace

bool ArrayTask::has_results() const { return is_there(results()); }

std::string ArrayTask::text_of(const char* file) const { return text_in(folder + "/" + file); }

std::string ArrayTry::id() const { return text_in(folder + "/id"); }

void ArrayTry::submit(const ArrayEngine& engine) const {
  const auto submitting = folder + "/submitting";
  if (!publish(submitting, "")) {
    throw Error{
        fmt::format("it is not known whether {} was submitted: the command that did so was killed. If the queue "
                    "has the array, cancel it. Then remove {}, and type the same command again",
                    folder, submitting)};
  }
  std::error_code none;
  std::string id;
  try {
    id = engine.submit(script(), tasks.size());
  } catch (const ArrayEngine::Interrupted&) {
    throw;
  } catch (const Error&) {
    fs::remove(submitting, none);
    throw;
  }
  try {
    static_cast<void>(publish(folder + "/id", id + "\n"));
  } catch (const Error&) {
    engine.cancel(id);
    fs::remove(submitting, none);
    throw;
  }
  fs::remove(submitting, none);
}

bool ArrayTry::is_cancelled() const { return is_there(folder + "/cancelled"); }

void ArrayTry::set_cancelled() const { static_cast<void>(publish(folder + "/cancelled", "")); }

ArrayRun ArrayRun::create(const ArrayRunOptions& options) {
  if (const int error = options.engine.empty() ? 0 : os::why_not_executable(options.engine); error != 0) {
    throw tool::WrongCommandLine{"--engine " + options.engine + " cannot be executed: " + os::reason(error)};
  }
  auto of_task = options_of_task(options.ctest_options);
  const auto runs = options.test_dir + "/Testing/gputest-slurm";
  const auto list = list_ctest(options.test_dir, options.ctest_options);
  const auto suite = parse_ctest_suite(list, options.times.empty() ? last_times(runs) : times_of_split(options.times));
  const auto all = list_ctest(options.test_dir, of_task);
  const auto numbers = numbers_of_tests(list, all);
  of_task = with_fixtures_of(numbers, all, std::move(of_task));
  if (suite.tests.empty()) {
    throw Error{"ctest lists no test in " + options.test_dir +
                ". Write --test-dir with the folder in which you start ctest, or other options after '--'"};
  }
  for (const auto& test : suite.tests) {
    if (std::any_of(test.name.begin(), test.name.end(), [](unsigned char c) { return c < 0x20; })) {
      throw Error{"the name of the test '" + tool::printable(test.name) +
                  "' has a control character, which JUnit files cannot have. Give it another name"};
    }
  }
  const auto count = std::min(options.shards != 0 ? options.shards : 4 * options.nodes, suite.tests.size());
  auto shards = assign_shards(suite.tests, count);
  shards.erase(std::remove_if(shards.begin(), shards.end(), [](const auto& shard) { return shard.empty(); }),
               shards.end());

  const auto folder = make_folder(options, runs);
  const auto token =
      fmt::format("{} {:016x}", folder, policy::fnv1a(fmt::format("{} {}", std::time(nullptr), os::own_pid())));
  const bool needs_gpu =
      std::any_of(suite.tests.begin(), suite.tests.end(), [](const SuiteTest& test) { return test.uses_gpu; });
  const auto quoted = [](const std::string& word) { return policy::shell_words({word}); };
  const auto task =
      fmt::format("run={}\ntoken={}\ntests={}\ntool={}\nversion={}\nneeds_gpu={}\narguments=({})\n{}", quoted(folder),
                  quoted(token), quoted(options.test_dir), quoted(path_of_tool()), quoted("gputest " GPUTEST_VERSION),
                  needs_gpu, policy::shell_words(of_task), array_task_sh);
  write_text(folder + "/suite.json", list);
  write_text(folder + "/lock", "");
  write_text(folder + "/token.part", token + "\n");
  std::error_code error;
  fs::create_hard_link(folder + "/token.part", folder + "/token", error);
  if (error) { // results are published so
    throw Error{
        fmt::format("no hard link can be made in {}: {}. Write --folder with one on a file system that has hard "
                    "links, and that all nodes share",
                    folder, error.message())};
  }
  write_text(folder + "/task.sh", task);
  if (options.engine.empty()) {
    const auto gpus = options.gpus_per_node == 0 ? "" : fmt::format("--gpus-per-node={} ", options.gpus_per_node);
    write_program(folder + "/engine", fmt::format("#!/bin/bash\nnodes={}\noptions=({}{})\n{}", options.nodes, gpus,
                                                  options.sbatch, slurm_engine_sh));
  } else {
    fs::create_symlink(fs::absolute(options.engine), folder + "/engine");
  }
  write_text(folder + "/run.json.part", json{{"version", GPUTEST_VERSION},
                                             {"tries", options.tries == 0 ? 2 : options.tries},
                                             {"repeats", repeats_of(options.ctest_options)},
                                             {"numbers", numbers}}
                                            .dump());
  fs::rename(folder + "/run.json.part", folder + "/run.json");
  ArrayRun run{folder};
  run.make_try(shards);
  return run;
}

ArrayRun::ArrayRun(std::string folder) : folder_{std::move(folder)} {
  std::string version;
  try {
    const auto state = json::parse(read_text(folder_ + "/run.json"));
    state.at("version").get_to(version);
    state.at("tries").get_to(tries_);
    state.at("repeats").get_to(repeats_);
    state.at("numbers").get_to(numbers_);
    suite_ = parse_ctest_suite(read_text(folder_ + "/suite.json"));
  } catch (const json::exception&) {
    throw Error{folder_ + " is not the folder of a run of 'gputest slurm': its run.json is damaged"};
  } catch (const Error& error) {
    throw Error{folder_ + " is not the folder of a run of 'gputest slurm': " + error.what()};
  }
  if (version != GPUTEST_VERSION) {
    throw Error{folder_ + " was begun by gputest " + version +
                ", and this is gputest " GPUTEST_VERSION ". Use the same version"};
  }
  if (numbers_.size() != suite_.tests.size()) {
    throw Error{folder_ + " is damaged: suite.json and run.json are not of one suite. Begin a new run"};
  }
  for (std::size_t test = 0; test < suite_.tests.size(); ++test) {
    positions_[numbers_.at(test)] = test;
  }
}

bool ArrayRun::is_gone() const {
  std::error_code error; // such as that of a server that does not answer
  return !fs::exists(folder_ + "/run.json", error) && !error;
}

std::vector<ArrayTry> ArrayRun::tries() const try {
  std::vector<ArrayTry> tries;
  for (;;) {
    ArrayTry array;
    array.folder = fmt::format("{}/try-{}", folder_, tries.size() + 1);
    for (;;) {
      ArrayTask task;
      task.number = array.tasks.size() + 1;
      task.folder = fmt::format("{}/task-{}", array.folder, task.number);
      std::istringstream words{task.text_of("numbers")};
      std::vector<std::size_t> numbers;
      for (std::string word; std::getline(words, word, ',');) {
        numbers.push_back(std::stoul(word));
      }
      if (numbers.size() <= 3) { // 0,0,0
        break;
      }
      for (auto number = numbers.begin() + 3; number != numbers.end(); ++number) {
        task.tests.push_back(positions_.at(*number));
      }
      array.tasks.push_back(std::move(task));
    }
    if (array.tasks.empty()) {
      return tries;
    }
    tries.push_back(std::move(array));
  }
} catch (const std::logic_error&) { // words that are no numbers, or not those of tests
  throw Error{folder_ +
              " is damaged: a file `numbers` has other things than ctest's numbers of its tests. Begin a new run"};
}

CtestProgress ArrayRun::progress_of(const ArrayTask& task) const {
  const auto text = os::contents_of(task.folder + "/progress").value_or("");
  const auto sound = task.text_of("sound"); // a line is added from time to time
  auto progress = parse_ctest_progress(text, suite_.tests, positions_,
                                       std::strtoul(sound.c_str() + sound.rfind('\n') + 1, nullptr, 10));
  const auto recorded = progress.unsure.empty() ? std::set<std::string>{} : recorded_ends(task.folder);
  for (auto& [test, result] : progress.unsure) {
    const bool is_only =
        std::count_if(suite_.tests.begin(), suite_.tests.end(),
                      [&name = result.name](const SuiteTest& other) { return other.name == name; }) == 1;
    if (is_only && recorded.count(result.name) != 0) {
      progress.ended[test] = std::move(result);
    } else {
      progress.begun.insert(test);
    }
  }
  progress.unsure.clear();
  return progress;
}

std::vector<ArrayTask> ArrayRun::give_up_unfinished(const ArrayTry& array) const {
  std::set<std::size_t> suspects; // tests that ran when a task was killed before
  for (const auto& earlier : tries()) {
    if (earlier.folder == array.folder) {
      break;
    }
    for (const auto& task : earlier.tasks) {
      if (const auto begun = progress_of(task).begun; !earlier.is_cancelled()) {
        suspects.insert(begun.begin(), begun.end());
      }
    }
  }
  std::vector<ArrayTask> given_up;
  for (const auto& task : array.tasks) {
    if (task.has_results()) {
      continue;
    }
    const auto progress = progress_of(task);
    std::map<std::size_t, RunResult> results;
    for (const auto& [test, result] : progress.ended) {
      const bool has_failed = result.verdict <= TestVerdict::not_run;
      if (repeats_ == Repeats::none || (repeats_ == Repeats::until_fail && has_failed)) {
        results[test] = result;
      }
    }
    for (const auto test : progress.begun) { // it alone ran when its task was killed
      if (!array.is_cancelled() && progress.begun.size() == 1 && suspects.count(test) != 0) {
        results[test] = {suite_.tests[test].name, TestVerdict::failed, "Killed its task twice",
                         "it was running when its task ended without results, and again when it ran alone", ""};
      }
    }
    std::set<std::string> incomplete; // names of several tests, of which one has no result
    for (const auto test : task.tests) {
      if (results.count(test) == 0) {
        incomplete.insert(suite_.tests[test].name);
      }
    }
    std::vector<RunResult> complete;
    for (auto& [test, result] : results) {
      if (incomplete.count(result.name) == 0 || result.verdict <= TestVerdict::not_run) { // no failure is lost
        complete.push_back(std::move(result));
      }
    }
    if (publish(task.results(), junit_of(complete))) { // else they were there, and could not be seen yet
      given_up.push_back(task);
    }
  }
  return given_up;
}

bool ArrayRun::add_try() const {
  std::vector<EndedTask> ended;
  std::set<std::string> names;
  const auto arrays = tries();
  for (const auto& array : arrays) {
    for (const auto& task : array.tasks) {
      auto& of_task = ended.emplace_back();
      of_task.tests = task.tests;
      if (!array.is_cancelled()) {
        of_task.begun = progress_of(task).begun;
      }
      for (auto& result : read_junit(task.results()).results) {
        names.insert(std::move(result.name));
      }
    }
  }
  std::set<std::size_t> lost;
  for (std::size_t test = 0; test < suite_.tests.size(); ++test) {
    if (names.count(name_in_junit(suite_.tests[test].name)) == 0) {
      lost.insert(test);
    }
  }
  if (lost.empty()) {
    return false;
  }
  make_try(follow_up_tasks(suite_.tests, lost, ended));
  return true;
}

void ArrayRun::make_try(const std::vector<std::vector<std::size_t>>& tasks) const {
  const auto number = tries().size() + 1;
  const auto folder = fmt::format("{}/try-{}", folder_, number);
  const auto part = fmt::format("{}/.try-{}.{}", folder_, number, os::own_pid());
  std::error_code none;
  fs::remove_all(part, none);
  for (std::size_t task = 0; task < tasks.size(); ++task) {
    std::vector<std::size_t> numbers;
    for (const auto test : tasks[task]) {
      numbers.push_back(numbers_[test]);
    }
    const auto of_task = fmt::format("{}/task-{}", part, task + 1);
    std::error_code error;
    fs::create_directories(of_task, error);
    if (error) {
      throw cannot_write(of_task, error);
    }
    write_text(of_task + "/numbers", selection_of(numbers));
  }
  write_program(part + "/task.sh", fmt::format("#!/bin/bash\ntry={}\n{}", number, read_text(folder_ + "/task.sh")));
  std::error_code error;
  fs::rename(part, folder, error);
  fs::remove_all(part, none); // somebody else has made it
  if (error && error != std::errc::directory_not_empty && error != std::errc::file_exists) {
    throw cannot_write(folder, error);
  }
}

} // namespace gputest::insights
