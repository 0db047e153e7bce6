// SPDX-License-Identifier: BSD-3-Clause
#include "insights/ctest_progress.hpp"

#include "core/policy/text.hpp"

#include <charconv>
#include <optional>
#include <string_view>

namespace gputest::insights {

namespace {

void skip(std::string_view& text, const char* characters) {
  text.remove_prefix(std::min(text.find_first_not_of(characters), text.size()));
}

bool skip_word(std::string_view& text, std::string_view word) {
  const bool begins = policy::starts_with(text, word);
  text.remove_prefix(begins ? word.size() : 0);
  return begins;
}

/// The number in `12: `; nullopt: the text begins otherwise.
std::optional<std::size_t> skip_number(std::string_view& text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc{} && skip_word(text, ": ") ? std::optional{number} : std::nullopt;
}

/// What follows the name: ` .....   Passed    1.00 sec`, with `***Failed` and the like for all but `Passed`, or with
/// `Subprocess aborted***Exception:`.
std::optional<RunResult> parse_result(std::string_view text, const std::string& name) {
  skip(text, " .");
  constexpr std::string_view unit = " sec";
  const auto end = text.find_last_not_of(' ');
  if (end == std::string_view::npos || end < unit.size() || text.substr(end + 1 - unit.size(), unit.size()) != unit) {
    return std::nullopt;
  }
  text = text.substr(0, end + 1 - unit.size());
  const auto before_time = text.find_last_not_of("0123456789.");
  if (before_time == std::string_view::npos || before_time + 1 == text.size() || text[before_time] != ' ') {
    return std::nullopt;
  }
  text = text.substr(0, before_time);
  text = text.substr(0, text.find_last_not_of(' ') + 1);
  RunResult result;
  result.name = name;
  constexpr std::string_view exception = "***Exception:";
  const bool is_marked = skip_word(text, "***");
  if (text == "Passed" && !is_marked) {
    result.verdict = TestVerdict::passed;
  } else if (!is_marked && text.size() > exception.size() && text.substr(text.size() - exception.size()) == exception) {
    result.verdict = TestVerdict::failed;
    result.why = text.substr(0, text.size() - exception.size());
  } else if (!is_marked || text.empty()) {
    return std::nullopt;
  } else {
    result.verdict = text == "Skipped"              ? TestVerdict::skipped
                     : text == "Not Run (Disabled)" ? TestVerdict::disabled
                     : text == "Not Run"            ? TestVerdict::not_run
                                                    : TestVerdict::failed;
    result.why = text;
  }
  return result;
}

} // namespace

CtestProgress parse_ctest_progress(const std::string& text, const std::map<std::size_t, std::string>& names,
                                   std::size_t sound) {
  CtestProgress progress;
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    auto line = std::string_view{text}.substr(begin, end - begin);
    skip(line, " 0123456789/");
    const bool starts = skip_word(line, "Start ");
    if (!starts && !skip_word(line, "Test ")) {
      continue;
    }
    skip(line, " ");
    if (!starts && !skip_word(line, "#")) {
      continue;
    }
    const auto number = skip_number(line);
    const auto name = number ? names.find(*number) : names.end();
    if (name == names.end() || !skip_word(line, name->second)) {
      continue;
    }
    if (starts && line.empty()) {
      progress.ended.erase(*number); // it runs again
      progress.unsure.erase(*number);
      progress.begun.insert(*number);
    } else if (auto result = starts ? std::nullopt : parse_result(line, name->second)) {
      progress.begun.erase(*number);
      (end < sound ? progress.ended : progress.unsure)[*number] = *std::move(result);
    }
  }
  return progress;
}

} // namespace gputest::insights
