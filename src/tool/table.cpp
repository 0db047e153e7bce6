// SPDX-License-Identifier: BSD-3-Clause
#include "tool/table.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace gputest::tool {

namespace {

/// Characters, not bytes: the bytes that only continue a UTF-8 character have no width.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

} // namespace

Table::Table(std::vector<Column> columns) : columns_{std::move(columns)} {}

void Table::add_row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  std::transform(cells.begin(), cells.end(), cells.begin(), printable);
  rows_.push_back(std::move(cells));
}

std::string Table::to_string() const {
  std::vector<std::vector<std::string>> lines(1);
  for (const auto& column : columns_) {
    lines.front().push_back(column.title);
  }
  lines.insert(lines.end(), rows_.begin(), rows_.end());

  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], width(line[i]));
    }
  }
  std::string text;
  for (const auto& line : lines) {
    std::string row;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string padding(widths[i] - width(line[i]), ' ');
      row += i == 0 ? "" : "  ";
      row += columns_[i].align == Align::left ? line[i] + padding : padding + line[i];
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + '\n';
  }
  return text;
}

std::string json_text(const nlohmann::ordered_json& document) {
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

} // namespace gputest::tool
