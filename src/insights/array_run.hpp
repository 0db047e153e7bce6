// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "insights/array_engine.hpp"
#include "insights/ctest_list.hpp"
#include "insights/ctest_progress.hpp"
#include "insights/ctest_suite.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace gputest::insights {

/// What an array run is asked to do.
struct ArrayRunOptions {
  std::string test_dir = ".";
  std::string folder; ///< to make; empty: in Testing/gputest-slurm of test_dir
  std::string times;  ///< a run log; empty: that of the last run in Testing/gputest-slurm
  std::string engine; ///< a program; empty: Slurm
  std::size_t nodes = 4;
  std::size_t shards = 0;        ///< 0: four per node
  std::size_t gpus_per_node = 0; ///< 0: not asked for
  std::string sbatch;            ///< options, as a shell reads them
  std::size_t tries = 0;         ///< arrays at most; 0: two
  std::vector<std::string> ctest_options;
};

/// A task of an array: one ctest.
struct ArrayTask {
  std::size_t number = 0; ///< in its array, from 1
  std::string folder;
  std::vector<std::size_t> tests; ///< positions in the suite

  [[nodiscard]] std::string results() const { return folder + "/tests.xml"; }
  [[nodiscard]] bool has_results() const;
  [[nodiscard]] std::string text_of(const char* file) const; ///< without newlines at its end; empty: no such file
};

/// One array, the first or one for what is missing after it.
struct ArrayTry {
  std::string folder;
  std::vector<ArrayTask> tasks;

  [[nodiscard]] std::string script() const { return folder + "/task.sh"; }
  [[nodiscard]] std::string id() const; ///< empty: it was not submitted

  /// Throws Error, with the reason. Then no task of it runs, unless the reason says otherwise.
  void submit(const ArrayEngine& engine) const;
  [[nodiscard]] bool is_cancelled() const; ///< by the user: it does not count as a try
  void set_cancelled() const;
};

/// A suite that runs as arrays of tasks, and the folder that has all of its state, so that whoever follows it may end
/// and another process go on. What may be written twice is a hard link, of which the first one stays.
///
///     suite.json, run.json, task.sh, engine   what runs; run.json comes last
///     try-1/task.sh, try-1/id                an array
///     try-1/task-1/numbers                   the tests of a task
///     try-1/task-1/tests.xml                 their results, once it has ended; array_task.sh has its other files
class ArrayRun {
public:
  /// Splits the suite, and makes the folder with the first array. Throws Error and tool::WrongCommandLine.
  [[nodiscard]] static ArrayRun create(const ArrayRunOptions& options);

  /// One that was begun. Throws Error.
  explicit ArrayRun(std::string folder);

  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] std::string engine() const { return folder_ + "/engine"; }
  [[nodiscard]] std::size_t most_tries() const { return tries_; }

  /// Whether somebody has removed the folder.
  [[nodiscard]] bool is_gone() const;

  /// The arrays so far. Throws Error.
  [[nodiscard]] std::vector<ArrayTry> tries() const;

  /// What a task has said so far. What is unsure has begun, unless the test's own process recorded its end.
  [[nodiscard]] CtestProgress progress_of(const ArrayTask& task) const;

  /// Gives the tasks of an array that has ended without them their results: those of the tests that had ended, and not
  /// by the end of the task. A test that was running when a task was killed before, and now alone, has failed. Returns
  /// these tasks. Throws Error.
  std::vector<ArrayTask> give_up_unfinished(const ArrayTry& array) const;

  /// Makes the folder of one more array, for the tests that have no result. False if all have one. Throws Error.
  [[nodiscard]] bool add_try() const;

private:
  /// Makes the next array's folder, whole, unless somebody else has made it.
  void make_try(const std::vector<std::vector<std::size_t>>& tasks) const;

  std::string folder_;
  std::size_t tries_ = 0;
  Repeats repeats_ = Repeats::none;
  CtestSuite suite_;
  std::vector<std::size_t> numbers_;             ///< of ctest, of each test
  std::map<std::size_t, std::size_t> positions_; ///< by these numbers
};

} // namespace gputest::insights
