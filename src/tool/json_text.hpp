// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace gputest::tool {

/// `version` in all JSON of the tool. Goes up when a key is removed or changes its meaning, not when one is added.
inline constexpr int json_version = 1;

/// The text of a JSON document for stdout: indented, one newline at its end, bytes that are not UTF-8 replaced.
[[nodiscard]] inline std::string json_text(const nlohmann::ordered_json& document) {
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

} // namespace gputest::tool
