// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gputest::policy {

[[nodiscard]] constexpr bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

/// The hash FNV-1a: the same in all programs and on all machines, unlike std::hash.
[[nodiscard]] constexpr std::uint64_t fnv1a(std::string_view bytes, std::uint64_t hash = 0xCBF29CE484222325U) {
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3U;
  }
  return hash;
}

/// How many bytes at the beginning of `text` are one character of UTF-8; 0 if none are. Overlong forms, surrogates and
/// what is beyond U+10FFFF are none.
[[nodiscard]] constexpr std::size_t length_of_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xC2 ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) {
      return 0;
    }
  }
  const bool is_wrong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F) ||
                        (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F);
  return text.empty() || is_wrong ? 0 : length;
}

/// The text with `?` for what must not reach a terminal from a name or a log: control characters, those that turn the
/// direction of writing or end a line in Unicode, and bytes that are no UTF-8. Pure.
[[nodiscard]] std::string printable(const std::string& text);

/// A number with so many digits after the point, whatever locale the program has set. Pure.
[[nodiscard]] std::string fixed(double value, int digits);

/// The text with a newline at its end, unless it has one or is empty. Pure.
[[nodiscard]] std::string in_whole_lines(std::string text);

/// The parts between separators, also empty ones, such as the lines of a text or the folders of a PATH; none after a
/// last separator. Pure.
[[nodiscard]] std::vector<std::string> parts_of(const std::string& text, char separator);

/// The parts with separators between them. Pure.
[[nodiscard]] std::string joined(const std::vector<std::string>& parts, const std::string& separator);

/// `1 case`, `2 cases`. Pure.
[[nodiscard]] std::string counted(std::size_t count, const std::string& noun);

/// A regular expression of CMake's and CTest's that matches this text and nothing else: `^Sort\.keys$`. Pure.
[[nodiscard]] std::string exact_regex(const std::string& text);

/// A command line that a POSIX shell reads as exactly these words, quoted only where that is needed. Pure.
[[nodiscard]] std::string shell_words(const std::vector<std::string>& words);

/// How many characters have to be inserted, removed, replaced, or exchanged with their neighbour, to make `b` of `a`.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name that was probably meant by a mistyped one: that with the smallest edit distance, and of several the first.
/// Empty if there are no names. Pure.
[[nodiscard]] std::string nearest_name(std::string_view mistyped, const std::set<std::string>& names);

} // namespace gputest::policy
