// SPDX-License-Identifier: BSD-3-Clause
#include "core/runlog/json_object.hpp"

#include "core/policy/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace gputest::runlog {

namespace {

void append_string(std::string& to, std::string_view text) {
  to += '"';
  while (!text.empty()) {
    const auto length = policy::length_of_character(text);
    const char c = text.front();
    if (length == 0) {
      to += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      to += '\\';
      to += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      std::array<char, 8> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      to += escaped.data();
    } else {
      to += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  to += '"';
}

} // namespace

void JsonObject::begin(std::string_view name) {
  members_ += members_.empty() ? "" : ",";
  append_string(members_, name);
  members_ += ':';
}

JsonObject& JsonObject::text(std::string_view name, std::string_view value) {
  begin(name);
  append_string(members_, value);
  return *this;
}

JsonObject& JsonObject::number(std::string_view name, std::uint64_t value) {
  begin(name);
  members_ += std::to_string(value);
  return *this;
}

JsonObject& JsonObject::seconds(std::string_view name, double value) {
  begin(name);
  // Not by a format for floating-point numbers, which follows the locale.
  const auto micros = std::llround(std::isfinite(value) ? std::clamp(value, -1e12, 1e12) * 1e6 : 0.0);
  const auto size = static_cast<unsigned long long>(std::llabs(micros));
  std::array<char, 48> digits{};
  std::snprintf(digits.data(), digits.size(), "%s%llu.%06llu", micros < 0 ? "-" : "", size / 1000000, size % 1000000);
  members_ += digits.data();
  return *this;
}

JsonObject& JsonObject::flag(std::string_view name, bool value) {
  begin(name);
  members_ += value ? "true" : "false";
  return *this;
}

JsonObject& JsonObject::texts(std::string_view name, const std::vector<std::string>& values) {
  begin(name);
  members_ += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    members_ += i == 0 ? "" : ",";
    append_string(members_, values[i]);
  }
  members_ += ']';
  return *this;
}

JsonObject& JsonObject::object(std::string_view name, const JsonObject& value) {
  begin(name);
  members_ += value.to_string();
  return *this;
}

JsonObject& JsonObject::objects(std::string_view name, const std::vector<JsonObject>& values) {
  begin(name);
  members_ += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    members_ += (i == 0 ? "" : ",") + values[i].to_string();
  }
  members_ += ']';
  return *this;
}

JsonObject& JsonObject::members(const JsonObject& other) {
  members_ += (members_.empty() || other.members_.empty() ? "" : ",") + other.members_;
  return *this;
}

} // namespace gputest::runlog
