// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "table.hpp"

#include <ostream>
#include <string>
#include <vector>

namespace gputest::benchmarks {

/// Where and when the figures were taken.
struct Circumstances {
  std::string system;
  unsigned processors = 0;
  std::string boost;
  double load_before = 0; ///< processes that ran or wanted to, over the last minute
  double load_after = 0;
};

void print(std::ostream& out, const Table& table);
void print(std::ostream& out, const Circumstances& circumstances);

/// All figures, for machines.
[[nodiscard]] std::string to_json(const Circumstances& circumstances, const std::vector<Table>& tables);

} // namespace gputest::benchmarks
