// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace gputest::policy {

std::string printable(const std::string& text) {
  const auto is_within = [](std::string_view one, std::string_view first, std::string_view last) {
    return one >= first && one <= last;
  };
  std::string result;
  for (std::string_view rest{text}; !rest.empty();) {
    const auto length = length_of_character(rest);
    const auto one = rest.substr(0, length);
    const bool acts = length == 0 || one < " " || is_within(one, "\x7F", "\xC2\x9F") || one == "\xD8\x9C" ||
                      is_within(one, "\xE2\x80\x8E", "\xE2\x80\x8F") ||
                      is_within(one, "\xE2\x80\xA8", "\xE2\x80\xAE") || is_within(one, "\xE2\x81\xA6", "\xE2\x81\xA9");
    result += acts ? "?" : one;
    rest.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

std::string fixed(double value, int digits) {
  std::array<char, 400> text{}; // more than the largest number has
  return {text.data(), std::to_chars(text.begin(), text.end(), value, std::chars_format::fixed, digits).ptr};
}

std::string in_whole_lines(std::string text) {
  if (!text.empty() && text.back() != '\n') {
    text += '\n';
  }
  return text;
}

std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string joined(const std::vector<std::string>& parts, const std::string& separator) {
  std::string text;
  for (const auto& part : parts) {
    text += (&part == &parts.front() ? "" : separator) + part;
  }
  return text;
}

std::string counted(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string exact_regex(const std::string& text) {
  std::string regex = "^";
  for (const char character : text) {
    regex += std::string_view{R"(.[]^$*+?()|\)"}.find(character) == std::string_view::npos ? "" : "\\";
    regex += character;
  }
  return regex + "$";
}

namespace {

std::string quoted(const std::string& word) {
  // What is special to no shell.
  constexpr const char* plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:,+@%=";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
    return word;
  }
  std::string text = "'";
  for (const char c : word) {
    text += c == '\'' ? std::string{"'\\''"} : std::string{c};
  }
  return text + "'";
}

} // namespace

std::string shell_words(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) {
    text += (text.empty() ? "" : " ") + quoted(word);
  }
  return text;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Row i has the distances of the first i characters of `a` from each beginning of `b`.
  std::vector<std::vector<std::size_t>> rows(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        rows[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      rows[i][j] = std::min({replaced, rows[i - 1][j] + 1, rows[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
      }
    }
  }
  return rows[a.size()][b.size()];
}

std::string nearest_name(std::string_view mistyped, const std::set<std::string>& names) {
  const auto nearest = std::min_element(names.begin(), names.end(), [&](const auto& a, const auto& b) {
    return edit_distance(mistyped, a) < edit_distance(mistyped, b);
  });
  return nearest == names.end() ? "" : *nearest;
}

} // namespace gputest::policy
