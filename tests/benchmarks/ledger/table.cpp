// SPDX-License-Identifier: BSD-3-Clause
#include "table.hpp"

#include "contestant.hpp"

#include <algorithm>
#include <cmath>

namespace gputest::benchmarks {

double quantile(std::vector<double> samples, double share) {
  std::sort(samples.begin(), samples.end());
  const double position = share * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(position));
  const auto above = static_cast<std::size_t>(std::ceil(position));
  return samples[below] + (samples[above] - samples[below]) * (position - std::floor(position));
}

double baseline(const Table& table) {
  return median(
      std::find_if(table.rows.begin(), table.rows.end(), [](const Row& row) { return !row.samples.empty(); })->samples);
}

std::vector<Row> empty_rows() {
  std::vector<Row> rows;
  for (const auto& contestant : contestants()) {
    rows.push_back({contestant.name, {}, {}});
  }
  return rows;
}

} // namespace gputest::benchmarks
