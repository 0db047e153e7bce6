// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "insights/ctest_suite.hpp"
#include "insights/run_log.hpp"
#include "tool/exit_codes.hpp"

#include <limits>
#include <map>
#include <string>
#include <vector>

namespace gputest::insights {

/// What ctest or pytest says of a test, the worst first.
enum class TestVerdict { failed, not_run, passed, skipped, disabled };

/// What one run says of one test.
struct RunResult {
  std::string name;
  TestVerdict verdict = TestVerdict::passed;
  std::string why;    ///< it failed, or did not run; may be empty
  std::string output; ///< of one that failed
  std::string xml;    ///< its element
};

/// When something happened, as far as that is known: at a time of this span, both ends of which are in it.
struct RunTime {
  double earliest = -std::numeric_limits<double>::infinity(); ///< seconds since 1970, UTC
  double latest = std::numeric_limits<double>::infinity();
  bool has_zone = true; ///< false: it was read as one of this machine's zone

  /// Whether it certainly came first. Neither of two times may have.
  [[nodiscard]] bool is_before(const RunTime& other) const;
};

/// Reads a timestamp of ISO 8601, with or without a zone. Without one it is a time of this machine's zone, where the
/// hour that comes twice when clocks go back is two hours long. Whatever else the text is, the time is not known.
[[nodiscard]] RunTime parse_run_time(const std::string& text);

/// One JUnit file.
struct JunitRun {
  std::string file;
  RunTime begun; ///< by the clock of its machine
  double seconds = 0;
  std::vector<RunResult> results; ///< in the order of the tests
};
using Shard = std::vector<JunitRun>; ///< one machine's: a run, and perhaps others of some of the tests

/// A test of the suite, or one that is in a shard only.
struct MergedTest {
  std::string name;
  TestVerdict verdict = TestVerdict::failed;
  std::string label;                      ///< of a test that failed, as ctest prints it; or the kind of the problem
  std::string problem;                    ///< why there is no verdict of ctest's; empty: there is one
  std::vector<const RunResult*> attempts; ///< in their order
  const RunResult* result = nullptr;      ///< that of the verdict

  [[nodiscard]] bool has_failed() const { return verdict <= TestVerdict::not_run; }
};

struct Merged {
  std::vector<MergedTest> tests;   ///< in the suite's order
  std::vector<MergedTest> unknown; ///< those that the suite does not have
};

/// Gives each test of the suite its result. In a shard, that of the last run that did not skip it counts. It is a
/// problem if no shard has a result or several have, if a run that failed and one that passed may both be the last, and
/// if tests with one name cannot be told apart. ctest adds tests that set up or clean up a fixture to several shards:
/// there the worst result counts. Orders the runs of each shard. The results point into them.
[[nodiscard]] Merged merge_results(const std::vector<SuiteTest>& suite, std::vector<Shard>& shards);

/// What ran the tests, and wrote their list and JUnit files.
enum class TestTool { ctest, pytest };

/// The name of a result of this test. ctest and XML have something else for control characters.
[[nodiscard]] std::string name_in_junit(const std::string& test);

/// Reads what `ctest --output-junit` or `pytest --junitxml` wrote, without the modules that pytest skipped instead of
/// listing their tests. Throws Error, with the path, for anything but a regular file with such a document.
[[nodiscard]] JunitRun read_junit(const std::string& path, TestTool tool = TestTool::ctest);

/// What the run logs say of an entry, as properties of JUnit: names and values.
using EntryFacts = std::map<std::string, std::map<std::string, std::string>>;
[[nodiscard]] EntryFacts facts_of(const RunLog& log);

/// A JUnit file that has each test once, with its result, and with what the logs say of it. Earlier failures are its
/// `flakyFailure` if it passed in the end, else its `rerunFailure`. A problem is a failure, also each of `unread`, the
/// shards without a result.
[[nodiscard]] std::string merged_junit(const Merged& merged, const std::vector<std::string>& unread, double seconds,
                                       const EntryFacts& facts = {});

/// A JUnit file with these results, as ctest writes it, for a ctest that was killed before it wrote one.
[[nodiscard]] std::string junit_of(const std::vector<RunResult>& results);

struct MergeOptions {
  std::string suite;           ///< a file
  std::string junit;           ///< to write; empty: none
  std::string log;             ///< to write; empty: none
  std::string format = "text"; ///< `github`: also annotations and a summary for GitHub
  bool may_lack_log = false;   ///< if no shard has a run log, say so and write none; else that is an error
  std::vector<std::string> shards;
};

/// What `gputest merge` does. Throws Error.
[[nodiscard]] tool::ExitCode merge_shards(const MergeOptions& options);

} // namespace gputest::insights
