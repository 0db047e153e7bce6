// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace gputest::tool {

/// The text with `?` for control characters: a newline or an escape sequence in a name of another process, or in a log,
/// must not reach the terminal.
[[nodiscard]] std::string printable(std::string text);

enum class Align { left, right };

/// A table for people: a line of titles, then the rows, columns as wide as their widest cell and two blanks apart.
class Table {
public:
  struct Column {
    std::string title;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns);

  /// Appends a row. Cells that are missing at its end are empty; control characters are shown as `?`.
  void add_row(std::vector<std::string> cells);

  /// All lines, each ended by a newline and without blanks at its end.
  [[nodiscard]] std::string to_string() const;

private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

} // namespace gputest::tool
