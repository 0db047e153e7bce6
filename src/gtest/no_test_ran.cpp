// SPDX-License-Identifier: BSD-3-Clause
#include "no_test_ran.hpp"

#include "known_needs.hpp"
#include "private_member.hpp"

#include <algorithm>
#include <vector>

namespace gputest::detail {

/// GoogleTest does not tell otherwise whether the filter selects a test of another shard.
struct MatchesFilter {
  using Member = bool ::testing::TestInfo::*;
  friend Member member_of(MatchesFilter /*tag*/);
};
template struct PrivateMember<MatchesFilter, &::testing::TestInfo::matches_filter_>;

namespace {

struct Known {
  bool disabled = false;
  bool matches = false; ///< the filter
};

std::vector<Known> all_tests(const ::testing::UnitTest& unit_test) {
  std::vector<Known> tests;
  for_each_test(unit_test, [&](const ::testing::TestSuite& suite, const ::testing::TestInfo& test) {
    if (std::string{suite.name()} != misnamed_suite) {
      tests.push_back({is_disabled(suite, test), test.*member_of(MatchesFilter{})});
    }
  });
  return tests;
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
  return {"the filter '" + filter + "' selects none" + of_all};
}

} // namespace gputest::detail
