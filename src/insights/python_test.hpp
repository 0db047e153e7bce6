// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gputest::insights {

struct SourceFile;

/// A text in a source between quotation marks.
struct QuotedText {
  std::string text;
  std::size_t line = 0, column = 0; ///< of its first character
};

/// What a source in Python says of a test.
struct PythonTest {
  std::size_t def = 0;            ///< the line of its `def`; 0: the test is not there
  std::string of_class;           ///< whose body has the `def`; empty: none
  bool is_marked = false;         ///< one of its decorators is a mark `gpu`
  std::vector<QuotedText> memory; ///< of such marks, and of those of parameters, as far as they are not computed
};

/// The test that pytest calls `test` (`test_sort.py::TestKeys::test_sort[3]`) and that begins in `line`, with its first
/// decorator. Pure.
[[nodiscard]] PythonTest find_python_test(const SourceFile& file, std::size_t line, const std::string& test);

/// Where to insert `import pytest`; 0: it is there. Pure.
[[nodiscard]] std::size_t line_for_import(const SourceFile& file);

/// Whether a source is in Python.
[[nodiscard]] bool is_python(const std::string& path);

} // namespace gputest::insights
