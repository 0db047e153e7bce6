// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/memory_class.hpp>

#include <gputest/error.hpp>

#include <array>
#include <string>

namespace gputest {

namespace {

template <class Enum, std::size_t N>
Enum parse(const std::array<Enum, N>& values, std::string_view text, std::string_view what) {
  std::string allowed;
  for (const Enum value : values) {
    if (to_string(value) == text) {
      return value;
    }
    allowed += (allowed.empty() ? "" : ", ") + std::string{to_string(value)};
  }
  throw InvalidSetting{std::string{what} + " '" + std::string{text} + "' is unknown; it is one of " + allowed};
}

} // namespace

std::string_view to_string(MemoryClass memory_class) {
  switch (memory_class) {
  case MemoryClass::small:
    return "small";
  case MemoryClass::medium:
    return "medium";
  case MemoryClass::large:
    return "large";
  }
  return "unknown";
}

MemoryClass parse_memory_class(std::string_view text, std::string_view what) {
  return parse(std::array{MemoryClass::small, MemoryClass::medium, MemoryClass::large}, text, what);
}

std::string_view to_string(LargePolicy policy) {
  switch (policy) {
  case LargePolicy::exclude:
    return "exclude";
  case LargePolicy::serial:
    return "serial";
  case LargePolicy::wait:
    return "wait";
  }
  return "unknown";
}

LargePolicy parse_large_policy(std::string_view text, std::string_view what) {
  return parse(std::array{LargePolicy::exclude, LargePolicy::serial, LargePolicy::wait}, text, what);
}

} // namespace gputest
