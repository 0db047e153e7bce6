// SPDX-License-Identifier: BSD-3-Clause
#include "tally.hpp"

#include <algorithm>

namespace gputest::tests::storm {

std::uint64_t Tally::kills() const {
  std::uint64_t sum = 0;
  for (const auto count : killed_by) {
    sum += count;
  }
  return sum;
}

Tally& Tally::operator+=(const Tally& other) {
  starts += other.starts;
  finished += other.finished;
  for (std::size_t signal = 0; signal < killed_by.size(); ++signal) {
    killed_by.at(signal) += other.killed_by.at(signal);
  }
  for (std::size_t doing = 0; doing < doings; ++doing) {
    killed_while.at(doing) += other.killed_while.at(doing);
  }
  stops += other.stops;
  kept_stopped += other.kept_stopped;
  rounds += other.rounds;
  seconds = std::max(seconds, other.seconds);
  return *this;
}

} // namespace gputest::tests::storm
