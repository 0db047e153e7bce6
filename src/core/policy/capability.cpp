// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/capability.hpp>

#include <gputest/error.hpp>

#include <charconv>
#include <optional>

namespace gputest {

namespace {

using Kind = Capability::Kind;

constexpr std::array<std::string_view, Capability::kinds> words{"memory_pools",
                                                                "managed_memory",
                                                                "concurrent_managed_access",
                                                                "peer_access",
                                                                "cooperative_launch",
                                                                "tcc",
                                                                "wddm",
                                                                "mig",
                                                                "sm",
                                                                "total_memory",
                                                                "free_memory"};

Kind kind_at(std::size_t index) { return static_cast<Kind>(index); }

bool is_amount(Kind kind) { return kind == Kind::sm || kind == Kind::total_memory || kind == Kind::free_memory; }

bool is_compute_capability(std::uint64_t number) { return number >= 10 && number <= 999; }

/// How the word is written where it is read.
std::string usage_of(Kind kind) {
  const std::string word{to_string(kind)};
  return kind == Kind::sm ? "sm_<n> such as sm_80" : is_amount(kind) ? word + "=<size>" : word;
}

std::string all_usages() {
  std::string text;
  for (std::size_t i = 0; i < Capability::kinds; ++i) {
    text += (text.empty() ? "" : ", ") + usage_of(kind_at(i));
  }
  return text;
}

/// What follows `prefix` in `text`, if it begins so.
std::optional<std::string_view> after(std::string_view prefix, std::string_view text) {
  if (text.substr(0, prefix.size()) != prefix) {
    return std::nullopt;
  }
  return text.substr(prefix.size());
}

std::optional<Capability> parse_word(std::string_view word, std::string_view what) {
  if (const auto number = after("sm_", word)) {
    unsigned least = 0;
    const auto result = std::from_chars(number->data(), number->data() + number->size(), least);
    const bool whole = result.ec == std::errc{} && result.ptr == number->data() + number->size();
    return whole && is_compute_capability(least) ? std::optional{capabilities::sm(least)} : std::nullopt;
  }
  for (const Kind kind : {Kind::total_memory, Kind::free_memory}) {
    if (const auto size = after(std::string{to_string(kind)} + "=", word)) {
      return Capability{kind, parse_bytes(*size, std::string{what} + ": " + std::string{to_string(kind)}).count()};
    }
  }
  for (std::size_t i = 0; i < Capability::kinds; ++i) {
    if (!is_amount(kind_at(i)) && word == words.at(i)) {
      return Capability{kind_at(i)};
    }
  }
  return std::nullopt;
}

} // namespace

std::string_view to_string(Capability::Kind kind) { return words.at(static_cast<std::size_t>(kind)); }

Capabilities parse_capabilities(std::string_view text, std::string_view what) {
  constexpr std::string_view separators = " ,;";
  Capabilities all;
  for (auto begin = text.find_first_not_of(separators); begin != std::string_view::npos;) {
    const auto end = std::min(text.find_first_of(separators, begin), text.size());
    const auto word = text.substr(begin, end - begin);
    const auto one = parse_word(word, what);
    if (!one) {
      throw InvalidSetting{std::string{what} + "='" + std::string{text} + "' cannot be used: '" + std::string{word} +
                           "' is unknown; it is any of " + all_usages()};
    }
    all = all | Capabilities{*one};
    begin = text.find_first_not_of(separators, end);
  }
  return all;
}

std::string mistake_in(const Capabilities& capabilities) {
  const auto least = capabilities.least(Kind::sm);
  if (least == 0 || is_compute_capability(least)) {
    return "";
  }
  return "sm(" + std::to_string(least) + "); the compute capability is written without its point, as sm(80) for 8.0";
}

std::string to_string(const Capabilities& capabilities) {
  std::string text;
  for (std::size_t i = 0; i < Capability::kinds; ++i) {
    const Kind kind = kind_at(i);
    const auto least = capabilities.least(kind);
    if (least == 0) {
      continue;
    }
    text += (text.empty() ? "" : ", ") + std::string{to_string(kind)};
    if (kind == Kind::sm) {
      text += "_" + std::to_string(least);
    } else if (is_amount(kind)) {
      text += " of " + to_string(Bytes{least});
    }
  }
  return text;
}

} // namespace gputest
