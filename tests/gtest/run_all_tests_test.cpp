// SPDX-License-Identifier: BSD-3-Clause
#include "support/suite_test.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace gputest::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

class RunAllTests : public SuiteTest {
protected:
  /// The exit code with gputest, after it was seen that without gputest the same tests run with the same result.
  [[nodiscard]] Ended run_both(std::vector<std::string> arguments) const {
    const Ended without = run("outcomes_without_gputest", arguments);
    Ended with = run("outcomes", arguments);
    EXPECT_EQ(tests_run(with.out), tests_run(without.out));
    if (with.exit_code != 77) {
      EXPECT_EQ(with.exit_code, without.exit_code);
    } else {
      EXPECT_EQ(without.exit_code, 0);
    }
    return with;
  }
};

TEST_F(RunAllTests, returns_77_only_where_every_test_was_skipped) {
  struct Row {
    std::string filter;
    int exit_code;
  };
  const std::vector<Row> rows{
      {"Passing.*", 0},     {"Skipping.*", 77},          {"Skipping.first", 77}, {"Passing.first:Skipping.*", 0},
      {"Failing.fails", 1}, {"Failing.*:Skipping.*", 1}, {"NoSuchSuite.*", 0},   {"Passing.DISABLED_fourth", 0},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(run_both({"--gtest_filter=" + row.filter}).exit_code, row.exit_code) << row.filter;
  }
}

TEST_F(RunAllTests, says_why_the_exit_code_is_77_where_nothing_expects_it) {
  set("GPUTEST_ENTRY", "");
  const auto because = HasSubstr("gputest: all tests were skipped, so the exit code is 77");
  EXPECT_THAT(run("outcomes", {"--gtest_filter=Skipping.*"}).err, because);
  EXPECT_THAT(run("outcomes", {"--gtest_filter=Passing.*"}).err, Not(because));
  set("GPUTEST_ENTRY", "ctest");
  EXPECT_THAT(run("outcomes", {"--gtest_filter=Skipping.*"}).err, Not(because));
}

TEST_F(RunAllTests, does_not_say_skipped_where_an_earlier_repeat_ran) {
  EXPECT_EQ(run_both({"--gtest_filter=Changing.*", "--gtest_repeat=2"}).exit_code, 0);
  EXPECT_EQ(run_both({"--gtest_filter=Skipping.*", "--gtest_repeat=2"}).exit_code, 77);
}

TEST_F(RunAllTests, fails_if_an_environment_fails_although_every_test_was_skipped) {
  for (const std::string place : {"SetUp", "TearDown"}) {
    set("FAIL_IN", place);
    for (const std::string filter : {"Skipping.*", "Passing.*"}) {
      set("GPUTEST_ENTRY", "");
      EXPECT_EQ(run_both({"--gtest_filter=" + filter}).exit_code, 1) << place << " " << filter;
      EXPECT_EQ(run_both({"--gtest_filter=" + filter, "--gtest_repeat=2"}).exit_code, 1) << place << " " << filter;
      set("GPUTEST_ENTRY", "ctest");
      const Ended ended = run("outcomes", {"--gtest_filter=" + filter});
      EXPECT_EQ(ended.exit_code, 1) << place << " " << filter;
    }
  }
}

TEST_F(RunAllTests, returns_77_in_an_entry_of_which_gputest_skipped_some_tests) {
  set("GPUTEST_RUN_MODE", "parallel"); // large tests are excluded
  EXPECT_EQ(run("classes").exit_code, 0) << "nobody who starts it by hand expects 77";
  set("GPUTEST_ENTRY", "ctest");
  const Ended some = run("classes");
  EXPECT_EQ(some.exit_code, 77);
  EXPECT_THAT(some.err,
              HasSubstr("gputest: 2 of 9 tests skipped by gputest, so the entry is skipped; no test failed\n"));
  EXPECT_EQ(run("classes", {"--gtest_filter=-Large*"}).exit_code, 0);
  EXPECT_EQ(run("outcomes", {"--gtest_filter=Passing.first:Skipping.*"}).exit_code, 0) << "the tests skip themselves";
  set("GPUTEST_FORBID_SKIP", "1");
  EXPECT_EQ(run("classes").exit_code, 1) << "a failure counts for more than a skip";
  set("GTEST_TOTAL_SHARDS", "2");
  set("GTEST_SHARD_INDEX", "1");
  EXPECT_EQ(run("outcomes", {"--gtest_filter=Passing.first"}).exit_code, 1) << "other shards have it";
}

TEST_F(RunAllTests, returns_for_each_case_of_a_process_what_came_out_of_that_case) {
  const std::vector<std::pair<std::string, int>> rows{
      // the process ends with what came out of the last case
      {"Skipping.first;Passing.first", 0},
      {"Passing.first;Skipping.first", 77},
      {"Failing.fails;Passing.first", 0},
      {"Failing.fails;Skipping.first", 77},
  };
  set("GPUTEST_ENTRY", "ctest");
  for (const auto& [cases, exit_code] : rows) {
    set("GPUTEST_CASES", cases);
    EXPECT_EQ(start("outcomes").finish().exit_code, exit_code) << cases;
  }
}

TEST_F(RunAllTests, fails_if_a_case_that_a_process_is_to_run_selects_no_test) {
  for (const std::string cases : {"NoSuchSuite.a", "Passing.first;NoSuchSuite.a", "NoSuchSuite.a;Passing.first"}) {
    set("GPUTEST_CASES", cases);
    const auto ended = start("outcomes").finish();
    EXPECT_EQ(ended.exit_code, 1) << cases;
    EXPECT_THAT(ended.err, HasSubstr("gputest: failed: no test ran: the filter 'NoSuchSuite.a' selects none of the "
                                     "18 tests of this executable\n"));
  }
}

TEST_F(RunAllTests, runs_the_tests_of_a_shard) {
  set("GTEST_TOTAL_SHARDS", "3");
  std::multiset<std::string> all;
  for (const std::string shard : {"0", "1", "2"}) {
    set("GTEST_SHARD_INDEX", shard);
    const Ended ended = run_both({"--gtest_filter=Numbered.*:All/Numbered.*:Passing.*"});
    EXPECT_EQ(ended.exit_code, 0);
    const auto tests = tests_run(ended.out);
    EXPECT_FALSE(tests.empty());
    all.insert(tests.begin(), tests.end());
  }
  EXPECT_EQ(all.size(), 11U);
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 11U);
}

TEST_F(RunAllTests, fails_in_an_entry_that_repeats_its_tests_not_once) {
  set("GPUTEST_ENTRY", "ctest");
  const Ended ended = run("outcomes", {"--gtest_repeat=0"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("gputest: failed: no test ran: --gtest_repeat=0 (or GTEST_REPEAT) repeats"));
}

TEST_F(RunAllTests, speaks_of_other_shards_only_where_there_are_some) {
  set("GPUTEST_ENTRY", "ctest");
  const Ended nested = run("outcomes", {"--gtest_filter=Nesting.*"});
  EXPECT_EQ(nested.exit_code, 1) << "a call that selects no test is a mistake";
  EXPECT_EQ(count(nested.err, "no test ran: "), 1U) << nested.err;
  EXPECT_THAT(nested.err, Not(HasSubstr("skipped")));
  set("LATE_FILTER", "Passing.*");
  const Ended late = run("outcomes", {"--gtest_filter=NoSuchSuite.*"});
  EXPECT_EQ(late.exit_code, 1);
  EXPECT_THAT(late.err, HasSubstr("gputest: failed: no test ran: the filter selected none when the tests began, and is "
                                  "'Passing.*' only since then\n"));
}

TEST_F(RunAllTests, repeats_without_entering_again) {
  const Ended ended = run_both({"--gtest_filter=Passing.*:All/*", "--gtest_repeat=3"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(tests_run(ended.out).size(), 33U);
  EXPECT_EQ(count(ended.err, "gputest: admitted"), 1U) << ended.err;
}

TEST_F(RunAllTests, lists_tests_without_a_gpu_or_a_ledger) {
  set("GPUTEST_DEVICES", "none");
  set("GPUTEST_DIR", "/proc/nobody-can-write-here");
  const Ended without = run("outcomes_without_gputest", {"--gtest_list_tests"});
  const Ended with = run("outcomes", {"--gtest_list_tests"});
  EXPECT_EQ(with.exit_code, 0);
  EXPECT_THAT(with.out, HasSubstr("DISABLED_fourth"));
  EXPECT_EQ(with.out.substr(with.out.find("Passing.")), without.out.substr(without.out.find("Passing.")));
  EXPECT_EQ(with.err, "");
}

TEST_F(RunAllTests, may_be_replaced_by_an_environment_alone) {
  set("GPUTEST_ENTRY", "ctest");
  set("GPUTEST_TEST", "entry");
  for (const std::string filter : {"Medium.*", "NoFixture.*"}) {
    auto suite = start("own_main", {"--gtest_filter=" + filter, "--gtest_repeat=2"});
    for (int repeat = 0; repeat < 2; ++repeat) {
      suite.wait_for_out("@body");
      EXPECT_EQ(claim_of(suite).stage, policy::Stage::holding);
      EXPECT_EQ(claim_of(suite).medium_lock, filter == "Medium.*");
      suite.say("go on");
    }
    const Ended ended = suite.finish();
    EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
    EXPECT_EQ(count(ended.err, "gputest: admitted"), 1U) << ended.err;
  }
  set("GPUTEST_DEVICES", "none");
  const Ended skipped = run("own_main");
  EXPECT_EQ(skipped.exit_code, 77) << skipped.out << skipped.err;
}

TEST_F(RunAllTests, returns_what_googletest_does_in_an_entry_whose_process_tells_of_a_skip) {
  set("KNOWS_ONE_FAILURE", "1");
  set("GPUTEST_DEVICES", "none");
  EXPECT_EQ(run("own_main").exit_code, 1) << "nobody else would see that nothing ran";
  set("GPUTEST_ENTRY", "ctest");
  const Ended skipped = run("own_main");
  EXPECT_EQ(skipped.exit_code, 77) << skipped.out << skipped.err;
  set("GPUTEST_ENTRY", "/proc/1/fd/1000000"); // a page that it cannot open
  EXPECT_EQ(run("outcomes", {"--gtest_filter=Skipping.*"}).exit_code, 77) << "nobody else would tell of the skip";
  set("GPUTEST_ENTRY", "ctest");
  set("GPUTEST_FORBID_SKIP", "1");
  EXPECT_EQ(run("own_main").exit_code, 1);
}

TEST_F(RunAllTests, is_missed_by_the_fixtures_of_an_executable_without_it) {
  const std::string remedy = "link gputest::main in place of gtest_main, or end your main() with "
                             "`return gputest::run_all_tests();`";
  for (const std::string suite : {"Small", "Medium", "Large", "Scoped"}) {
    const Ended ended = run("unprotected", {"--gtest_filter=" + suite + ".*"});
    EXPECT_EQ(ended.exit_code, 1) << ended.out;
    EXPECT_THAT(ended.out, HasSubstr(remedy));
  }
  const Ended ended = run("unprotected", {"--gtest_filter=NoFixture.leases"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.out, HasSubstr("was asked for outside of a test that gputest runs"));
  EXPECT_FALSE(std::filesystem::exists(ledger()));
}

} // namespace
} // namespace gputest::tests
