// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gputest::insights {

/// A place in a source file; an empty file: not known.
struct SourcePlace {
  std::string file;
  std::uint64_t line = 0;
};

/// The first place in a test's output at which an assertion failed, as GoogleTest, Catch2, doctest, pytest and assert()
/// write it. Pure.
[[nodiscard]] SourcePlace place_of_failure(const std::string& output);

/// A failed test for people who look at a pull request.
struct FailedTest {
  std::string name;
  std::string why;    ///< a line or a few
  std::string output; ///< its end; may be empty
  SourcePlace place;
};

/// Workflow commands of GitHub Actions, one for each test: an annotation with its file and line. Pure.
[[nodiscard]] std::string github_annotations(const std::vector<FailedTest>& failed);

/// Markdown for the summary of a step: a heading, the failed tests with the ends of their outputs, and `notes`, a list.
/// Pure.
[[nodiscard]] std::string github_summary(const std::string& heading, const std::vector<FailedTest>& failed,
                                         const std::vector<std::string>& notes);

/// Prints the annotations, with files below GITHUB_WORKSPACE named from there on, and appends the summary to `file`,
/// else to the file that GITHUB_STEP_SUMMARY names; if there is none, prints it, too. Throws Error if the file cannot
/// be written.
void write_for_github(const std::string& heading, std::vector<FailedTest> failed, const std::vector<std::string>& notes,
                      const std::string& file);

} // namespace gputest::insights
