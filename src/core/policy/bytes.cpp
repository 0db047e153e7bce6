// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/bytes.hpp>

#include "core/policy/text.hpp"

#include <gputest/error.hpp>

#include <array>
#include <charconv>
#include <cmath>

namespace gputest {

namespace {

struct Unit {
  std::string_view name;
  unsigned shift;
};

constexpr std::array<Unit, 5> units{{{"B", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}}};

/// No machine has more; what asks for more is a slip of the keyboard.
constexpr Bytes most{std::uint64_t{1024} << 40U};

[[noreturn]] void refuse(std::string_view text, std::string_view what, std::string_view why) {
  throw InvalidSetting{std::string{what} + " '" + std::string{text} + "' " + std::string{why} +
                       "; write a number and a unit, such as 256MiB, 3GiB or 1.5GiB (units: B, KiB, MiB, GiB, TiB)"};
}

} // namespace

Bytes parse_bytes(std::string_view text, std::string_view what) {
  const auto digits = text.find_first_not_of("0123456789.");
  const std::string_view number = text.substr(0, digits);
  const std::string_view unit = digits == std::string_view::npos ? std::string_view{} : text.substr(digits);
  if (number.empty() || number.front() == '.' || number.back() == '.') {
    refuse(text, what, "is not a size");
  }
  if (unit.empty()) {
    refuse(text, what, "has no unit");
  }
  for (const auto& known : units) {
    if (unit != known.name) {
      continue;
    }
    double value = 0;
    const auto result = std::from_chars(number.data(), number.data() + number.size(), value, std::chars_format::fixed);
    if (result.ec != std::errc{} || result.ptr != number.data() + number.size()) {
      refuse(text, what, "is not a size");
    }
    // Sizes up to 2^50 are exact in a double, whose mantissa has 53 bits.
    const double count = std::floor(std::ldexp(value, static_cast<int>(known.shift)));
    if (count > static_cast<double>(most.count())) {
      refuse(text, what, "is more than 1024TiB, the most that is accepted");
    }
    if (count < 1) {
      refuse(text, what, "is less than one byte");
    }
    return Bytes{static_cast<std::uint64_t>(count)};
  }
  refuse(text, what, "has an unknown unit '" + std::string{unit} + "'");
}

std::string to_string(Bytes bytes) {
  auto unit = units.begin();
  while (unit + 1 != units.end() && bytes.count() >> (unit + 1)->shift != 0) {
    ++unit;
  }
  const double value = std::ldexp(static_cast<double>(bytes.count()), -static_cast<int>(unit->shift));
  auto number = policy::fixed(value, 2);
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') {
    number.pop_back();
  }
  return number + " " + std::string{unit->name};
}

} // namespace gputest
