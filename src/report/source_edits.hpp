// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "report/ctest_suite.hpp"
#include "report/declarations.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace gputest::report {

/// A source file.
struct SourceFile {
  std::string path;
  std::string text;
  std::set<std::string> compiled_as; ///< the paths under which compilers got it (Declaration::declared_in)
};

/// What to change for a test.
struct SourceEdit {
  std::string name;     ///< of the test
  std::string path;     ///< empty: nobody knows where it is declared
  std::size_t line = 0; ///< from 1
  std::string before;   ///< the line, or what is declared
  std::string after;    ///< the same with the advised size, or what to write; empty: to leave it as it is
  std::string why_not;  ///< why it cannot be made safely; empty: it can
  std::size_t at = 0;   ///< of the size that is replaced, in the file
  std::size_t size = 0;
  std::string literal; ///< that takes its place
};

/// Finds where each declaration whose verdict is `over` or `under` is written.
///
/// An edit is safe if a literal size of a `GPUTEST_NEEDS(Suite, Test, ...)`, of the `GPUTEST_SUITE_NEEDS(Suite, ...)`
/// of a suite lease, or of the `MEMORY` of one `gpu_add_test(NAME entry ...)`, is there once and is the size that was
/// declared in the run, in the file that the run says, and if a device of the runs has as much. A size is not lowered
/// if an entry of `listed` with a test of this name is in no run: it may be another executable's, with the same source.
/// What is in comments, strings and `#if 0` is no declaration. Tests with one declaration, such as the instances of a
/// parameterised test, get the largest of their advised sizes. Pure.
[[nodiscard]] std::vector<SourceEdit> find_edits(const std::vector<Declaration>& declarations,
                                                 const std::vector<SourceFile>& files,
                                                 const std::vector<ListedTest>& listed);

/// The text of the file with those of the edits in it that are safe. Pure.
[[nodiscard]] std::string apply_edits(const SourceFile& file, const std::vector<SourceEdit>& edits);

} // namespace gputest::report
