// SPDX-License-Identifier: BSD-3-Clause
#include "report/source_code.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace gputest::report {

namespace {

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/// Replaces text that is no code.
class Mask {
public:
  explicit Mask(const std::string& text) : text_{text}, code_{text} {}

  /// Both give the position after it.
  std::size_t blank(std::size_t from, std::size_t to) { return replace(from, to, ' '); }
  std::size_t dot(std::size_t from, std::size_t to) { return replace(from, to, '.'); }

  /// Where `what` ends, from `from` on; the end of the text if it is not there.
  [[nodiscard]] std::size_t end_of(const std::string& what, std::size_t from) const {
    const auto at = text_.find(what, from);
    return at == std::string::npos ? text_.size() : at + what.size();
  }

  /// Where a quoted text ends that begins at `from`.
  [[nodiscard]] std::size_t end_of_quoted(std::size_t from, bool ends_with_line) const {
    for (std::size_t i = from + 1; i < text_.size(); ++i) {
      if (text_[i] == '\\') {
        ++i;
      } else if (text_[i] == text_[from]) {
        return i + 1;
      } else if (text_[i] == '\n' && ends_with_line) {
        return i;
      }
    }
    return text_.size();
  }

  [[nodiscard]] bool has(const char* what, std::size_t at) const {
    return text_.compare(at, std::char_traits<char>::length(what), what) == 0;
  }
  [[nodiscard]] char operator[](std::size_t i) const { return text_[i]; }
  [[nodiscard]] std::size_t size() const { return text_.size(); }
  [[nodiscard]] const std::string& code() const { return code_; }

private:
  std::size_t replace(std::size_t from, std::size_t to, char by) {
    to = std::min(to, code_.size());
    for (auto i = from; i < to; ++i) {
      code_[i] = code_[i] == '\n' ? '\n' : by;
    }
    return to;
  }

  const std::string& text_;
  std::string code_;
};

/// Of `R"x(...)x"`, whose quotation mark is at `at`.
std::size_t end_of_raw_string(const Mask& text, std::size_t at) {
  std::string delimiter = ")";
  for (auto i = at + 1; i < text.size() && text[i] != '('; ++i) {
    delimiter += text[i];
  }
  return text.end_of(delimiter + '"', at);
}

bool begins_raw_string(const Mask& text, std::size_t at) {
  auto begin = at;
  while (begin > 0 && is_word(text[begin - 1])) {
    --begin;
  }
  std::string prefix;
  for (auto i = begin; i < at; ++i) {
    prefix += text[i];
  }
  return prefix == "R" || prefix == "LR" || prefix == "uR" || prefix == "UR" || prefix == "u8R";
}

/// What is known of an `#if` and its running branch.
struct If {
  bool outer_is_out;
  bool first_is_taken;
  bool is_out; ///< the running branch is known to be left out

  If(const std::string& word, const std::string& condition, bool outer)
      : outer_is_out{outer}, first_is_taken{word == "if" && (condition == "1" || condition == "true")},
        is_out{word == "if" && (condition == "0" || condition == "false")} {}

  void next() { is_out = first_is_taken; }
};

/// Blanks what the preprocessor is known to leave out. `code` has no comments and strings.
void leave_out(const std::string& code, Mask& mask) {
  std::vector<If> ifs;
  const auto is_out = [&] { return !ifs.empty() && (ifs.back().outer_is_out || ifs.back().is_out); };
  for (std::size_t begin = 0; begin < code.size();) {
    const auto end = std::min(code.find('\n', begin), code.size());
    const auto first = code.find_first_not_of(" \t", begin);
    std::string word;
    std::string rest;
    if (first < end && code[first] == '#') {
      auto from = std::min(code.find_first_not_of(" \t", first + 1), end);
      while (from < end && is_word(code[from])) {
        word += code[from++];
      }
      for (; from < end; ++from) {
        rest += code[from] == ' ' || code[from] == '\t' || code[from] == '\r' ? "" : std::string(1, code[from]);
      }
    }
    if (word.compare(0, 2, "if") == 0) {
      ifs.emplace_back(word, rest, is_out());
    } else if (!ifs.empty() && (word == "else" || word.compare(0, 4, "elif") == 0)) {
      ifs.back().next();
    } else if (!ifs.empty() && word == "endif") {
      ifs.pop_back();
    } else if (is_out()) {
      mask.blank(begin, end);
    }
    begin = end + 1;
  }
}

} // namespace

std::string code_of_cpp(const std::string& text) {
  Mask mask{text};
  for (std::size_t i = 0; i < text.size();) {
    if (mask.has("//", i)) {
      auto end = std::min(text.find('\n', i), text.size());
      while (end < text.size() && text[end - 1] == '\\') { // goes on in the next line
        end = std::min(text.find('\n', end + 1), text.size());
      }
      i = mask.blank(i, end);
    } else if (mask.has("/*", i)) {
      i = mask.blank(i, mask.end_of("*/", i + 2));
    } else if (text[i] == '"') {
      i = mask.dot(i, begins_raw_string(mask, i) ? end_of_raw_string(mask, i) : mask.end_of_quoted(i, true));
    } else if (text[i] == '\'' && (i == 0 || !is_word(text[i - 1]))) { // else between the digits of a number
      i = mask.dot(i, mask.end_of_quoted(i, true));
    } else {
      ++i;
    }
  }
  leave_out(std::string{mask.code()}, mask);
  return mask.code();
}

std::string code_of_cmake(const std::string& text) {
  Mask mask{text};
  const auto end_of_bracket = [&](std::size_t at) { // of `[==[...]==]`; `at` if there is none
    auto equals = at + 1;
    while (equals < text.size() && text[equals] == '=') {
      ++equals;
    }
    return at < text.size() && text[at] == '[' && equals < text.size() && text[equals] == '['
               ? mask.end_of("]" + text.substr(at + 1, equals - at - 1) + "]", equals)
               : at;
  };
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '#') {
      const auto bracket = end_of_bracket(i + 1);
      i = mask.blank(i, bracket > i + 1 ? bracket : std::min(text.find('\n', i), text.size()));
    } else if (text[i] == '"') {
      i = mask.dot(i, mask.end_of_quoted(i, false));
    } else if (const auto bracket = end_of_bracket(i); bracket > i) {
      i = mask.dot(i, bracket);
    } else {
      i += text[i] == '\\' ? 2 : 1;
    }
  }
  return mask.code();
}

} // namespace gputest::report
