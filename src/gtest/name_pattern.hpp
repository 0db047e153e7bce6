// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string_view>

namespace gputest::detail {

/// As GoogleTest matches: `*` stands for any text, `?` for any byte. Only the last `*` may have to take more: what is
/// before it has matched as early as it can.
inline bool matches(std::string_view pattern, std::string_view name) {
  std::size_t at = 0; // in the pattern
  std::size_t behind_star = std::string_view::npos;
  std::size_t taken = 0; // where in the name that `*` ends
  for (std::size_t i = 0; i < name.size();) {
    if (at < pattern.size() && pattern[at] == '*') {
      behind_star = ++at;
      taken = i;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == name[i])) {
      ++at;
      ++i;
    } else if (behind_star != std::string_view::npos) {
      at = behind_star;
      i = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

} // namespace gputest::detail
