// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if defined(__GNUC__) && __cplusplus < 201703L
#error "gputest needs C++17: remove -std=c++14 or older from CMAKE_CXX_FLAGS or compile options, and set CMAKE_CXX_STANDARD to 17"
#endif

#include <cstdint>
#include <string>
#include <string_view>

namespace gputest {

/// An amount of memory in bytes. The unit is in the type, so a plain number cannot be used by mistake.
class Bytes {
public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(std::uint64_t count) : count_{count} {}

  /// The number of bytes.
  [[nodiscard]] constexpr std::uint64_t count() const { return count_; }

  friend constexpr bool operator==(Bytes a, Bytes b) { return a.count_ == b.count_; }
  friend constexpr bool operator!=(Bytes a, Bytes b) { return a.count_ != b.count_; }
  friend constexpr bool operator<(Bytes a, Bytes b) { return a.count_ < b.count_; }
  friend constexpr bool operator>(Bytes a, Bytes b) { return b < a; }
  friend constexpr bool operator<=(Bytes a, Bytes b) { return !(b < a); }
  friend constexpr bool operator>=(Bytes a, Bytes b) { return !(a < b); }

  /// Sum that stops at the largest value instead of wrapping.
  friend constexpr Bytes operator+(Bytes a, Bytes b) {
    return Bytes{b.count_ > UINT64_MAX - a.count_ ? UINT64_MAX : a.count_ + b.count_};
  }
  /// Difference that stops at zero instead of wrapping.
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return Bytes{a.count_ > b.count_ ? a.count_ - b.count_ : 0}; }
  constexpr Bytes& operator+=(Bytes other) { return *this = *this + other; }
  constexpr Bytes& operator-=(Bytes other) { return *this = *this - other; }

private:
  std::uint64_t count_ = 0;
};

/// Reads a size such as `3GiB`, `1.5GiB`, `256MiB` or `4096B`; units are B, KiB, MiB, GiB and TiB (powers of 1024).
///
/// Throws InvalidSetting for anything else: no unit, decimal units (`GB` is ambiguous), zero, or more than 1024 TiB.
/// The message calls the text `what`.
[[nodiscard]] Bytes parse_bytes(std::string_view text, std::string_view what = "size");

/// Writes a size for people: the largest unit that leaves a number of at least 1, with at most two decimals (`1.5
/// GiB`).
[[nodiscard]] std::string to_string(Bytes bytes);

namespace literals {
// NOLINTBEGIN(google-runtime-int): the language fixes the parameter type of a literal operator.
constexpr Bytes operator""_B(unsigned long long n) { return Bytes{n}; }
constexpr Bytes operator""_KiB(unsigned long long n) { return Bytes{n << 10U}; }
constexpr Bytes operator""_MiB(unsigned long long n) { return Bytes{n << 20U}; }
constexpr Bytes operator""_GiB(unsigned long long n) { return Bytes{n << 30U}; }
constexpr Bytes operator""_TiB(unsigned long long n) { return Bytes{n << 40U}; }
// NOLINTEND(google-runtime-int)
} // namespace literals

} // namespace gputest
