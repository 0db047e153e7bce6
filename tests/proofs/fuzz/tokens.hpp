// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace gputest::tests {

/// Reads numbers and texts out of an input, whatever it is; at its end they are 0 and empty.
///
/// Inputs can be written with an editor: blanks and newlines do not count, and one byte is one number. `0` to `9` are
/// themselves, `N` is 2^64-1, `M` one less, `H` is 2^63, `L` 2^63-1, `x` takes the eight bytes that follow it, and any
/// other byte is its own code (`d` is 100).
class Tokens {
public:
  explicit Tokens(std::string_view input) : left_{input} {}

  /// Whether nothing but blanks is left.
  [[nodiscard]] bool done() {
    left_.remove_prefix(std::min(left_.find_first_not_of(" \n"), left_.size()));
    return left_.empty();
  }

  /// The next byte that is not blank; NUL at the end.
  [[nodiscard]] char letter() {
    if (done()) {
      return '\0';
    }
    const char first = left_.front();
    left_.remove_prefix(1);
    return first;
  }

  [[nodiscard]] std::uint64_t number() {
    const char first = letter();
    switch (first) {
    case 'N':
      return UINT64_MAX;
    case 'M':
      return UINT64_MAX - 1;
    case 'H':
      return std::uint64_t{1} << 63U;
    case 'L':
      return UINT64_MAX >> 1U;
    case 'x': {
      std::uint64_t value = 0;
      const std::size_t size = std::min(left_.size(), sizeof value);
      std::memcpy(&value, left_.data(), size);
      left_.remove_prefix(size);
      return value;
    }
    default:
      return first >= '0' && first <= '9' ? static_cast<std::uint64_t>(first - '0') : static_cast<unsigned char>(first);
    }
  }

  /// The rest of the line.
  [[nodiscard]] std::string_view line() {
    const std::size_t end = std::min(left_.find('\n'), left_.size());
    const std::string_view line = left_.substr(0, end);
    left_.remove_prefix(std::min(end + 1, left_.size()));
    return line;
  }

  /// All that is left.
  [[nodiscard]] std::string_view rest() const { return left_; }

private:
  std::string_view left_;
};

} // namespace gputest::tests
