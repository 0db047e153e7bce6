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
  if (unit == Table::Unit::per_second) {
    return value < 1e4 ? number(value) + "/s" : number(value / 1e3) + " k/s";
  }
  return value < 1e3 ? number(value) + " ns" : value < 1e6 ? number(value / 1e3) + " us" : number(value / 1e6) + " ms";
}

const char* name_of(Table::Unit unit) { return unit == Table::Unit::nanoseconds ? "ns" : "1/s"; }

constexpr int name_width = 34;
constexpr int figure_width = 12;

} // namespace

void print(std::ostream& out, const Table& table) {
  out << '\n' << table.title << '\n';
  out << std::left << std::setw(name_width) << "" << std::right;
  for (const char* heading : {"median", "quarter", "3 quarters", "worst", "x pthread"}) {
    out << std::setw(figure_width) << heading;
  }
  out << '\n';
  for (const auto& row : table.rows) {
    out << std::left << std::setw(name_width) << row.name << std::right;
    if (!row.samples.empty()) {
      const double worst = table.unit == Table::Unit::per_second ? 0 : 1;
      for (const double share : {0.5, 0.25, 0.75, worst}) {
        out << std::setw(figure_width) << quantity(quantile(row.samples, share), table.unit);
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
        figures["smallest"] = quantile(row.samples, 0);
        figures["largest"] = quantile(row.samples, 1);
        figures["times_pthread"] = median(row.samples) / baseline(table);
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
