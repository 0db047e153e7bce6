// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/exact_regex.hpp"

#include <string_view>

namespace gputest::policy {

std::string exact_regex(const std::string& text) {
  std::string regex = "^";
  for (const char character : text) {
    regex += std::string_view{R"(.[]^$*+?()|\)"}.find(character) == std::string_view::npos ? "" : "\\";
    regex += character;
  }
  return regex + "$";
}

} // namespace gputest::policy
