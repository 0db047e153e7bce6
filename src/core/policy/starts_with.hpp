// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace gputest::policy {

[[nodiscard]] constexpr bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

} // namespace gputest::policy
