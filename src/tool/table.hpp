// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/policy/text.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace gputest::tool {

using policy::printable;

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

/// `version` in all JSON of the tool. Goes up when a key is removed or changes its meaning, not when one is added.
inline constexpr int json_version = 1;

/// The text of a JSON document for stdout: indented, one newline at its end, bytes that are not UTF-8 replaced.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& document);

} // namespace gputest::tool
