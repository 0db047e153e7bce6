// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "insights/ctest_suite.hpp"
#include "insights/declarations.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace gputest::insights {

/// A source file.
struct SourceFile {
  std::string path;               ///< as people and patches name it
  std::vector<std::string> lines; ///< without their newlines
  bool ends_with_newline = true;
};

/// Where the size of some tests is declared, and what to write there.
struct SourceEdit {
  std::string name;                 ///< of the test that needs most
  Bytes bytes;                      ///< to declare
  const SourceFile* file = nullptr; ///< null: nobody knows
  std::size_t line = 0;
  std::string before;                 ///< the line; empty: `after` is inserted above it
  std::string after;                  ///< the line as it should be, or in words what to write
  std::string why_not;                ///< why it is in no patch; empty: it is in
  std::string literal;                ///< that takes the place of another in the line
  std::size_t column = 0, length = 0; ///< of that one
};

/// Where the sources of some tests are.
struct Sources {
  /// The source that a log, or ctest, calls so; null: it is not found.
  std::function<const SourceFile*(const std::string& name)> file;
  std::map<std::string, SourceLine> entries; ///< where gpu_add_test() is called, by entry
  /// Whether the source is another one than in the run, so that no line of the log is that line now. None: nobody
  /// knows.
  std::function<bool(const SourceFile&, const RunLog&)> has_changed{};
};

/// What to write for each declaration whose verdict is `over` or `under`.
///
/// At the line of the annotation that the log names, or of the gpu_add_test() that ctest names, the one literal size
/// that was declared in the run is replaced. A test without an annotation of its memory gets one: a line above the
/// test, at the line that GoogleTest names, once for all instances of a parameterised test. Of a test in Python the
/// same is done with its marks. All declarations of one place get what the one needs that uses most. A smaller size is
/// in no patch: no log shows what did not run. Nor is a change of a source that has changed since the run. Pure but for
/// `sources`.
[[nodiscard]] std::vector<SourceEdit> find_edits(const std::vector<Declaration>& declarations, const Sources& sources);

/// The edits that can be made, as a unified diff for `git apply`; empty if there are none. A source that gets its first
/// annotation also gets the `#include` for it. Pure.
[[nodiscard]] std::string unified_diff(const std::vector<SourceEdit>& edits);

} // namespace gputest::insights
