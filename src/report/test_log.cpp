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

bool less(const Request& a, const Request& b) {
  const auto key = [](const Request& r) {
    return std::tuple{r.gpus, r.bytes ? 0 : static_cast<int>(r.memory_class), r.bytes.value_or(Bytes{}).count(),
                      r.heap.count()};
  };
  return key(a) < key(b);
}

} // namespace

TestLog parse_test_log(const std::string& text) {
  static const std::regex heading{R"(^\d+/\d+ Testing: (.*)$)"};
  static const std::regex time{R"(^Test time = +([0-9.]+) sec$)"};
  const std::string admitted = "gputest: admitted ";
  TestLog log;
  LoggedTest* test = nullptr;
  std::optional<policy::PlannedSeconds> seconds; // of a test whose result has not been read yet
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (test != nullptr && line.compare(0, admitted.size(), admitted) == 0) {
      const auto request = request_in(line.substr(admitted.size()));
      if (request && (!test->admitted || less(*test->admitted, *request))) {
        test->admitted = request;
      }
    } else if (test != nullptr && seconds && (line == "Test Passed." || line == "Test Failed.")) {
      test->time = seconds; // a skipped test has another line here
    } else if (std::regex_match(line, match, time)) {
      seconds = policy::PlannedSeconds{std::stod(match[1].str())};
    } else if (!line.empty() && line.front() >= '0' && line.front() <= '9' && std::regex_match(line, match, heading)) {
      test = &log[match[1].str()];
      *test = {};
      seconds.reset();
    }
  }
  return log;
}

} // namespace gputest::report
