// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gputest::runlog {

/// A JSON object on one line, written member by member in the order of the calls.
class JsonObject {
public:
  /// Control characters and bytes that are no UTF-8 are escaped or replaced, so that any text can be given.
  JsonObject& text(std::string_view name, std::string_view value);
  JsonObject& number(std::string_view name, std::uint64_t value);
  /// Seconds, to the microsecond.
  JsonObject& seconds(std::string_view name, double value);
  JsonObject& flag(std::string_view name, bool value);
  JsonObject& texts(std::string_view name, const std::vector<std::string>& values);
  JsonObject& object(std::string_view name, const JsonObject& value);
  JsonObject& objects(std::string_view name, const std::vector<JsonObject>& values);

  /// Appends the members of `other`.
  JsonObject& members(const JsonObject& other);

  /// `{"name":"value"}`, without a newline.
  [[nodiscard]] std::string to_string() const { return "{" + members_ + "}"; }

private:
  void begin(std::string_view name);

  std::string members_;
};

} // namespace gputest::runlog
