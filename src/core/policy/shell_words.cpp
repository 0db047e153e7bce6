// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/shell_words.hpp"

namespace gputest::policy {

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

} // namespace gputest::policy
