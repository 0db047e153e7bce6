// SPDX-License-Identifier: BSD-3-Clause
#include "no_test_ran.hpp"

#include "current_session.hpp"

#include <gputest/test_list.hpp>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace gputest::detail {

namespace {

/// GoogleTest does not tell whether the filter selects a test of another shard. An explicit instantiation may name the
/// private member that says it.
struct FilterMember {
  friend bool member_of(const ::testing::TestInfo& test, FilterMember);
};
template <class Tag, bool ::testing::TestInfo::*Member>
struct AccessTest {
  friend bool member_of(const ::testing::TestInfo& test, Tag /*member*/) { return test.*Member; }
};
template struct AccessTest<FilterMember, &::testing::TestInfo::matches_filter_>;

struct Known {
  std::string name;
  bool disabled = false;
  bool matches = false; ///< the filter
};

std::vector<Known> all_tests(const ::testing::UnitTest& unit_test) {
  std::vector<Known> tests;
  for (int s = 0; s < unit_test.total_test_suite_count(); ++s) {
    const auto& suite = *unit_test.GetTestSuite(s);
    if (std::string{suite.name()} == misnamed_suite) {
      continue;
    }
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const auto& test = *suite.GetTestInfo(t);
      const auto name = std::string{suite.name()} + "." + test.name();
      tests.push_back({name, is_disabled(suite, test), member_of(test, FilterMember{})});
    }
  }
  return tests;
}

/// The three names that are most like the first pattern of the filter, without its wildcards.
std::string nearest(const std::string& filter, const std::vector<Known>& tests) {
  auto pattern = filter.substr(0, filter.find_first_of(":-"));
  const bool whole_suite = pattern.size() > 1 && pattern.substr(pattern.size() - 2) == ".*";
  const auto tested = [&](const Known& test) {
    return whole_suite ? test.name.substr(0, test.name.rfind('.') + 1) : test.name;
  };
  pattern.erase(std::remove(pattern.begin(), pattern.end(), '*'), pattern.end());
  std::vector<std::pair<std::size_t, std::string>> by_distance;
  for (const auto& test : tests) {
    by_distance.emplace_back(edit_distance(pattern, tested(test)), test.name);
  }
  std::stable_sort(by_distance.begin(), by_distance.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string names;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, by_distance.size()); ++i) {
    names += (i == 0 ? "" : ", ") + by_distance[i].second;
  }
  return names;
}

} // namespace

NothingSelected why_no_test_was_selected(const ::testing::UnitTest& unit_test) {
  const auto tests = all_tests(unit_test);
  if (tests.empty()) {
    return {"this executable contains no tests. If they are in a static library, the linker has left them out: use an "
            "OBJECT library"};
  }
  if (unit_test.test_to_run_count() > 0) {
    return {"--gtest_repeat=0 (or GTEST_REPEAT) repeats them not once"};
  }
  const auto filter = GTEST_FLAG_GET(filter);
  const auto of_all = " of the " + std::to_string(tests.size()) + " tests of this executable";
  const auto matching = std::count_if(tests.begin(), tests.end(), [](const Known& test) { return test.matches; });
  const auto selected = std::count_if(tests.begin(), tests.end(), [](const Known& test) {
    return test.matches && (!test.disabled || GTEST_FLAG_GET(also_run_disabled_tests));
  });
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
  return {"the filter '" + filter + "' selects none" + of_all + "; the nearest are " + nearest(filter, tests)};
}

} // namespace gputest::detail
