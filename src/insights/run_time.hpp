// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <string>

namespace gputest::insights {

/// When something happened, as far as that is known: at a time of this span, both ends of which are in it.
struct RunTime {
  double earliest = -std::numeric_limits<double>::infinity(); ///< seconds since 1970, UTC
  double latest = std::numeric_limits<double>::infinity();
  bool has_zone = true; ///< false: it was read as one of this machine's zone

  /// Whether it certainly came first. Neither of two times may have.
  [[nodiscard]] bool is_before(const RunTime& other) const;
};

/// Reads a timestamp of ISO 8601, with or without a zone. Without one it is a time of this machine's zone, where the
/// hour that comes twice when clocks go back is two hours long. Whatever else the text is, the time is not known.
[[nodiscard]] RunTime parse_run_time(const std::string& text);

} // namespace gputest::insights
