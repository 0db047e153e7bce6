// SPDX-License-Identifier: BSD-3-Clause
#include "report/test_log.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <optional>
#include <regex>
#include <sstream>
#include <tuple>

namespace gputest::report {

namespace {

std::optional<Bytes> size_in(const std::ssub_match& match) {
  auto text = match.str();
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  return text.empty() ? std::nullopt : std::optional{parse_bytes(text)};
}

/// What to_string(const Request&) writes, without capabilities. nullopt for another text.
std::optional<Request> read_request(const std::string& text) try {
  constexpr std::size_t longest = 500; // std::regex recurses for each character
  if (text.size() > longest) {
    return std::nullopt;
  }
  static const std::regex form{
      R"(^(?:(\d{1,2}) x )?(?:(small|medium|large)(?: with ([0-9.]+ [KMGT]?i?B))?|([0-9.]+ [KMGT]?i?B)))"
      R"((?: and a heap of ([0-9.]+ [KMGT]?i?B))?(?:, requiring .*)?$)"};
  std::smatch match;
  if (!std::regex_match(text, match, form)) {
    return std::nullopt;
  }
  Request request;
  if (match[2].matched) {
    request.memory_class = parse_memory_class(match[2].str());
    request.bytes = size_in(match[3]);
  } else {
    request = *size_in(match[4]);
  }
  request.gpus = match[1].matched ? std::stoi(match[1].str()) : 1;
  request.heap = size_in(match[5]).value_or(Bytes{});
  return request;
} catch (const InvalidSetting&) {
  return std::nullopt;
}

/// Of a line `<test>: <request> on <devices>`, in which the test's name can hold anything.
std::optional<Request> request_in(const std::string& admitted) {
  for (auto colon = admitted.find(": "); colon != std::string::npos; colon = admitted.find(": ", colon + 1)) {
    const auto begin = colon + 2;
    const auto end = admitted.find(" on ", begin);
    if (end == std::string::npos) {
      break;
    }
    if (auto request = read_request(admitted.substr(begin, end - begin))) {
      return request;
    }
  }
  return std::nullopt;
}

/// Of a line `... after waiting <number> <unit>`, as short_duration() writes it, which rounds down.
policy::PlannedSeconds wait_in(const std::string& admitted) {
  const std::string words = ", after waiting ";
  const auto begin = admitted.rfind(words);
  if (begin == std::string::npos) {
    return {};
  }
  double count = 0;
  std::string unit;
  std::istringstream text{admitted.substr(begin + words.size())};
  text >> count >> unit;
  return policy::PlannedSeconds{count * (unit == "h" ? 3600 : unit == "min" ? 60 : 1)};
}

/// Of `<i>/<n> Testing: <name>`.
std::optional<std::string> name_in_heading(const std::string& line) {
  const std::string word = " Testing: ";
  const auto begin = line.find_first_not_of("0123456789/");
  const bool is_heading = begin != std::string::npos && begin != 0 && line.compare(begin, word.size(), word) == 0;
  return is_heading ? std::optional{line.substr(begin + word.size())} : std::nullopt;
}

/// A test that takes longer than a year is none: the log is damaged.
constexpr double longest_test_seconds = 365.0 * 24 * 3600;

/// Of `Test time =   0.21 sec`.
std::optional<policy::PlannedSeconds> time_in(const std::string& line) {
  const std::string word = "Test time = ";
  double seconds = 0;
  std::string unit;
  std::istringstream text{line.compare(0, word.size(), word) == 0 ? line.substr(word.size()) : ""};
  const bool is_time = text >> seconds >> unit && unit == "sec" && seconds >= 0 && seconds <= longest_test_seconds;
  return is_time ? std::optional{policy::PlannedSeconds{seconds}} : std::nullopt;
}

} // namespace

bool asks_for_less(const Request& a, const Request& b) {
  const auto key = [](const Request& r) {
    return std::tuple{r.gpus, r.bytes ? 0 : static_cast<int>(r.memory_class), r.bytes.value_or(Bytes{}).count(),
                      r.heap.count()};
  };
  return key(a) < key(b);
}

TestLog parse_test_log(const std::string& text) {
  const std::string program = "gputest: ";
  const std::string admitted = "gputest: admitted ";
  const std::string skips = "gputest: skipped: ";
  const std::string goes_on = " goes on, on ";
  TestLog log;
  LoggedEntry* test = nullptr;
  policy::PlannedSeconds waited{};
  constexpr policy::PlannedSeconds unknown{-1};
  auto seconds = unknown; // of a test whose result has not been read yet
  bool is_skip = false; // CTest's log says that it has passed
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    if (auto name = name_in_heading(line)) {
      test = &log[*std::move(name)];
      *test = {};
      waited = {};
      seconds = unknown;
      is_skip = false;
    } else if (test == nullptr) {
      continue;
    } else if (line.compare(0, admitted.size(), admitted) == 0) {
      waited += wait_in(line);
      const auto request = request_in(line.substr(admitted.size()));
      if (request && (!test->admitted || asks_for_less(*test->admitted, *request))) {
        test->admitted = request;
      }
    } else if (line.compare(0, program.size(), program) == 0 && line.find(goes_on) != std::string::npos) {
      waited += wait_in(line); // to enter
    } else if (line == "[==========] Running 1 test from 1 test suite.") {
      test->is_one_test = true;
    } else if (line == "[  PASSED  ] 0 tests." || line.compare(0, skips.size(), skips) == 0) {
      is_skip = true;
    } else if (seconds != unknown && (line == "Test Failed." || (line == "Test Passed." && !is_skip))) {
      test->time = std::max(seconds - waited, policy::PlannedSeconds{});
    } else if (const auto time = time_in(line)) {
      seconds = *time;
    }
  }
  return log;
}

} // namespace gputest::report
