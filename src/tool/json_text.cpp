// SPDX-License-Identifier: BSD-3-Clause
#include "tool/json_text.hpp"

#include <nlohmann/json.hpp>

namespace gputest::tool {

std::string json_text(const nlohmann::ordered_json& document) {
  using nlohmann::ordered_json;
  return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

} // namespace gputest::tool
