// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

namespace gputest::benchmarks {

namespace {

/// Three digits.
std::string number(double value) {
  std::ostringstream text;
  const int digits_before = value < 1 ? 1 : static_cast<int>(std::floor(std::log10(value))) + 1;
  text << std::fixed << std::setprecision(std::max(0, 3 - digits_before)) << value;
  return text.str();
}

std::string quantity(double value, Table::Unit unit) {
  if (unit == Table::Unit::count) {
    return number(value);
  }
  if (unit == Table::Unit::per_second) {
    return value < 1e4 ? number(value) + "/s" : number(value / 1e3) + " k/s";
  }
  return value < 1e3 ? number(value) + " ns" : value < 1e6 ? number(value / 1e3) + " us" : number(value / 1e6) + " ms";
}

const char* name_of(Table::Unit unit) {
  return unit == Table::Unit::nanoseconds ? "ns" : unit == Table::Unit::per_second ? "1/s" : "1";
}

std::vector<Table::Column> columns_of(const Table& table) {
  if (!table.columns.empty()) {
    return table.columns;
  }
  return {{"median", 0.5},
          {"quarter", 0.25},
          {"3 quarters", 0.75},
          {"worst", table.unit == Table::Unit::per_second ? 0. : 1.}};
}

constexpr int name_width = 40;
constexpr int figure_width = 12;

} // namespace

void print(std::ostream& out, const Table& table) {
  out << '\n' << table.title << '\n';
  out << std::left << std::setw(name_width) << "" << std::right;
  const auto columns = columns_of(table);
  for (const auto& column : columns) {
    out << std::setw(figure_width) << column.heading;
  }
  out << std::setw(figure_width) << "x " + table.compared_to << '\n';
  for (const auto& row : table.rows) {
    out << std::left << std::setw(name_width) << row.name << std::right;
    if (!row.samples.empty()) {
      for (const auto& column : columns) {
        out << std::setw(figure_width) << quantity(quantile(row.samples, column.share), table.unit);
      }
      out << std::setw(figure_width) << number(median(row.samples) / baseline(table));
    }
    out << (row.remark.empty() ? "" : "  ") << row.remark << '\n';
  }
}

void print(std::ostream& out, const Circumstances& circumstances) {
  out << circumstances.system << ", " << circumstances.processors << " processors, Boost " << circumstances.boost
      << "; load average before " << number(circumstances.load_before) << ", after " << number(circumstances.load_after)
      << '\n';
}

std::string to_json(const Circumstances& circumstances, const std::vector<Table>& tables) {
  nlohmann::ordered_json document{
      {"system", circumstances.system},         {"processors", circumstances.processors},
      {"boost", circumstances.boost},           {"load_before", circumstances.load_before},
      {"load_after", circumstances.load_after}, {"experiments", nlohmann::ordered_json::array()}};
  for (const auto& table : tables) {
    auto rows = nlohmann::ordered_json::array();
    for (const auto& row : table.rows) {
      nlohmann::ordered_json figures{{"name", row.name}};
      if (!row.samples.empty()) {
        figures["median"] = median(row.samples);
        figures["quartiles"] = {quantile(row.samples, 0.25), quantile(row.samples, 0.75)};
        figures["p99"] = quantile(row.samples, 0.99);
        figures["smallest"] = quantile(row.samples, 0);
        figures["largest"] = quantile(row.samples, 1);
        figures["times_" + table.compared_to] = median(row.samples) / baseline(table);
      }
      figures["samples"] = row.samples.size();
      if (!row.remark.empty()) {
        figures["remark"] = row.remark;
      }
      rows.push_back(figures);
    }
    document["experiments"].push_back(
        {{"key", table.key}, {"title", table.title}, {"unit", name_of(table.unit)}, {"rows", rows}});
  }
  return document.dump(2) + "\n";
}

} // namespace gputest::benchmarks
