// SPDX-License-Identifier: BSD-3-Clause
#include "listing.hpp"

#include "known_needs.hpp"

#include <gputest/error.hpp>
#include <gputest/settings.hpp>
#include <gputest/test_list.hpp>

#include <algorithm>
#include <iostream>
#include <utility>
#include <vector>

namespace gputest::detail {

namespace {

using ::testing::TestInfo;
using ::testing::TestSuite;

/// A name as a pattern of --gtest_filter. `?`, which stands for any byte, replaces what has a meaning there or in
/// GPUTEST_CASES, and what cannot be printed. Names of types and of tests that RegisterTest() makes may hold such
/// bytes.
std::string pattern_of(std::string name) {
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return c < ' ' || c > '~' || std::string_view{"*?:-;"}.find(c) != std::string_view::npos; }, '?');
  return name;
}

/// `function(pattern)` for each of the patterns, which `:` separates.
template <class Function>
void for_each_pattern(std::string_view patterns, Function function) {
  for (std::size_t begin = 0; begin <= patterns.size();) {
    const auto end = std::min(patterns.find(':', begin), patterns.size());
    if (end > begin) {
      function(patterns.substr(begin, end - begin));
    }
    begin = end + 1;
  }
}

bool matches_any(std::string_view patterns, std::string_view name) {
  bool any = false;
  for_each_pattern(patterns, [&](std::string_view pattern) { any = any || matches(pattern, name); });
  return any;
}

/// The patterns of a filter before the dash, and those after it.
std::pair<std::string, std::string> parts_of(const std::string& filter) {
  const auto dash = std::min(filter.find('-'), filter.size());
  return {dash == 0 ? "*" : filter.substr(0, dash), dash == filter.size() ? "" : filter.substr(dash + 1)};
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

/// Whether another process may print another text: an address, or the bytes of an object, which may hold one.
bool varies(std::string_view value) {
  constexpr std::size_t digits_of_a_number = 8;
  for (auto at = value.find("0x"); at != std::string_view::npos; at = value.find("0x", at + 1)) {
    const auto digits = value.substr(at + 2);
    if (std::min(digits.find_first_not_of("0123456789abcdef"), digits.size()) > digits_of_a_number) {
      return true;
    }
  }
  return value.find("-byte object <") != std::string_view::npos;
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
      listed.value = varies(value) ? listed.value_index : listed.value;
    }
  }
  listed.file = test.file() == nullptr ? "" : test.file();
  listed.line = test.line();
  listed.disabled = is_disabled(suite, test);
  if (uses_gpu(suite, test)) {
    listed.request = known_request(suite, test, entry);
  }
  listed.alone = reason_for_own_process(suite, test, entry);
  return listed;
}

struct Known {
  bool disabled = false;
  bool matches = false;   ///< the filter
  bool elsewhere = false; ///< in another shard
};

std::vector<Known> all_tests(const ::testing::UnitTest& unit_test, const std::string& filter) {
  std::vector<Known> tests;
  for_each_test(unit_test, [&](const ::testing::TestSuite& suite, const ::testing::TestInfo& test) {
    if (std::string{suite.name()} != misnamed_suite) {
      tests.push_back({is_disabled(suite, test), selects(filter, name_of(test)), test.is_in_another_shard()});
    }
  });
  return tests;
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
  static std::vector<ListedTest> tests; // of all calls
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

NothingSelected why_no_test_was_selected(const ::testing::UnitTest& unit_test) {
  const auto filter = GTEST_FLAG_GET(filter);
  const auto tests = all_tests(unit_test, filter);
  if (tests.empty()) {
    return {"this executable contains no tests. If they are in a static library, the linker has left them out: use an "
            "OBJECT library"};
  }
  if (unit_test.test_to_run_count() > 0) {
    return {"--gtest_repeat=0 (or GTEST_REPEAT) repeats them not once"};
  }
  const auto of_all = " of the " + std::to_string(tests.size()) + " tests of this executable";
  const auto matching = std::count_if(tests.begin(), tests.end(), [](const Known& test) { return test.matches; });
  const auto selected = std::count_if(tests.begin(), tests.end(), [](const Known& test) {
    return test.matches && (!test.disabled || GTEST_FLAG_GET(also_run_disabled_tests));
  });
  const bool has_shards = std::any_of(tests.begin(), tests.end(), [](const Known& test) { return test.elsewhere; });
  if (selected > 0 && !has_shards) {
    return {"the filter selected none when the tests began, and is '" + filter + "' only since then"};
  }
  if (selected > 0) {
    return {"other shards have what the filter '" + filter + "' selects, " + std::to_string(selected) + of_all +
                " (GTEST_TOTAL_SHARDS, GTEST_SHARD_INDEX)",
            true};
  }
  if (matching > 0) {
    return {"the filter '" + filter + "' selects " + std::to_string(matching) + of_all +
            ", and all of these are disabled. --gtest_also_run_disabled_tests runs them, and the "
            "property DISABLED of the CTest entry says that it is not meant to run"};
  }
  return {"the filter '" + filter + "' selects none" + of_all};
}

bool selects(const std::string& filter, const std::string& name) {
  const auto [positive, negative] = parts_of(filter);
  return matches_any(positive, name) && !matches_any(negative, name);
}

std::vector<std::string> left_out(const ::testing::UnitTest& unit_test, const std::string& filter,
                                  const std::set<std::string>& selected) {
  const auto [positive, negative_patterns] = parts_of(filter);
  const auto& negative = negative_patterns; // which a lambda can capture
  std::vector<std::string> missing;
  for_each_pattern(positive, [&](std::string_view pattern) {
    std::vector<std::string> of_pattern;
    bool any = false;
    std::string name; // whose memory is used again: there may be thousands, of which the entry selects one
    for_each_test(unit_test, [&](const TestSuite& suite, const TestInfo& test) {
      name.assign(test.test_suite_name()).append(".").append(test.name());
      if (!matches(pattern, name)) {
        return;
      }
      const bool may_run = (!is_disabled(suite, test) || GTEST_FLAG_GET(also_run_disabled_tests)) &&
                           !test.is_in_another_shard() && std::string{suite.name()} != misnamed_suite;
      if (may_run && !matches_any(negative, name)) {
        const bool ran = selected.count(name) != 0;
        any = any || ran;
        if (!ran && std::find(missing.begin(), missing.end(), name) == missing.end()) {
          of_pattern.push_back(name);
        }
      }
    });
    if (!any || pattern.find('*') == std::string_view::npos) {
      missing.insert(missing.end(), of_pattern.begin(), of_pattern.end());
    }
  });
  return missing;
}

} // namespace gputest::detail
