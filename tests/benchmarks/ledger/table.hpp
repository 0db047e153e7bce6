// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace gputest::benchmarks {

/// What was measured of one contestant.
struct Row {
  std::string name;
  std::vector<double> samples;
  std::string remark; ///< why there are none, or fewer
};

/// One comparison. The first row that has samples is what the others are compared to.
struct Table {
  enum class Unit { nanoseconds, per_second, count };

  /// A column: the value that `share` (0 to 1) of a row's samples are not above.
  struct Column {
    std::string heading;
    double share = 0;
  };

  std::string key; ///< for machines
  std::string title;
  Unit unit = Unit::nanoseconds;
  std::vector<Row> rows;
  std::vector<Column> columns{};       ///< empty: median, quartiles, worst
  std::string compared_to = "pthread"; ///< the first row, in the last column's heading
};

/// The value that `share` (0 to 1) of the samples are not above; there must be samples.
[[nodiscard]] double quantile(std::vector<double> samples, double share);

[[nodiscard]] inline double median(const std::vector<double>& samples) { return quantile(samples, 0.5); }

/// Median of what the others are compared to; there must be samples.
[[nodiscard]] double baseline(const Table& table);

/// A row for each contestant, without samples.
[[nodiscard]] std::vector<Row> empty_rows();

} // namespace gputest::benchmarks
