// SPDX-License-Identifier: BSD-3-Clause
#include "listing.hpp"

#include "known_needs.hpp"

#include <gputest/error.hpp>
#include <gputest/settings.hpp>
#include <gputest/test_list.hpp>

#include <algorithm>
#include <iostream>
#include <string_view>
#include <vector>

namespace gputest::detail {

namespace {

using ::testing::TestInfo;
using ::testing::TestSuite;

/// A name as a pattern of --gtest_filter. `?`, which stands for any byte, replaces what has a meaning there or in
/// CMake's quotes, and what cannot be printed. Names of types and of tests that RegisterTest() makes may hold such
/// bytes.
std::string pattern_of(std::string name) {
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return c < ' ' || c > '~' || std::string_view{"*?:-]"}.find(c) != std::string_view::npos; }, '?');
  return name;
}

bool matches(const std::string& pattern, const std::string& name) {
  return pattern.size() == name.size() &&
         std::equal(pattern.begin(), pattern.end(), name.begin(), [](char p, char c) { return p == '?' || p == c; });
}

/// The filter that selects a test alone, among all tests: its pattern, less the patterns of other tests that it
/// matches. Tests with the same pattern cannot be told apart.
std::string filter_of(const std::string& name, const std::vector<std::string>& all_names) {
  const auto pattern = pattern_of(name);
  std::string others;
  if (pattern.find('?') != std::string::npos) {
    for (const auto& other : all_names) {
      if (const auto of_other = pattern_of(other); of_other != pattern && matches(pattern, other)) {
        others += (others.empty() ? "-" : ":") + of_other;
      }
    }
  }
  return pattern + others;
}

/// At most so many bytes of a parameter, as --gtest_list_tests shows.
std::string shortened(const char* text) {
  constexpr std::size_t most = 250;
  std::string all{text};
  return all.size() <= most ? all : all.substr(0, most) + "...";
}

ListedTest describe(const TestSuite& suite, const TestInfo& test, const std::vector<std::string>& all_names,
                    const Request& entry) {
  ListedTest listed;
  listed.filter = filter_of(name_of(test), all_names);
  listed.suite = suite.name();
  if (const char* const type = suite.type_param()) {
    listed.type = shortened(type);
    if (const auto slash = listed.suite.rfind('/'); slash != std::string::npos) { // RegisterTest() takes any name
      listed.type_name = listed.suite.substr(slash + 1);
      listed.suite.erase(slash);
    }
  }
  listed.test = test.name();
  if (const char* const value = test.value_param()) {
    listed.value = shortened(value);
    const auto slash = listed.test.rfind('/');
    // A name that the project has chosen is better than the value, and remains.
    if (slash != std::string::npos && listed.test.find_first_not_of("0123456789", slash + 1) == std::string::npos) {
      listed.value_index = listed.test.substr(slash + 1);
      listed.test.erase(slash);
    }
  }
  listed.file = test.file() == nullptr ? "" : test.file();
  listed.line = test.line();
  listed.disabled = is_disabled(suite, test);
  if (uses_gpu(suite, test)) {
    listed.request = known_request(suite, test, entry);
  }
  listed.alone = why_alone(suite, test, entry);
  return listed;
}

} // namespace

int list_tests(::testing::UnitTest& unit_test, const std::string& file) try {
  const auto entry = entry_from_environment().request;
  // With this flag, all that it does is apply the filter and print.
  GTEST_FLAG_SET(list_tests, true);
  GTEST_FLAG_SET(also_run_disabled_tests, true);
  [[maybe_unused]] const int printed = RUN_ALL_TESTS();

  std::vector<std::string> names;
  for_each_test(unit_test, [&](const TestSuite& /*suite*/, const TestInfo& test) { names.push_back(name_of(test)); });
  std::vector<ListedTest> tests;
  for_each_test(unit_test, [&](const TestSuite& suite, const TestInfo& test) {
    if (test.should_run()) {
      tests.push_back(describe(suite, test, names, entry));
    }
  });
  write_test_list(file, tests);
  return 0;
} catch (const Error& error) {
  std::cerr << "gputest: " << error.what() << '\n';
  return 1;
}

} // namespace gputest::detail
