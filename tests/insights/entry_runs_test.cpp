// SPDX-License-Identifier: BSD-3-Clause
#include "insights/entry_runs.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gputest::insights {
namespace {

/// At `t`, of a process and an entry.
std::string line(double t, int pid, const std::string& entry, const std::string& rest) {
  return R"({"t":)" + std::to_string(100 + t) + R"(,"pid":)" + std::to_string(pid) + R"(,"entry":")" + entry + "\"," +
         rest + "}\n";
}

std::string enter(double waited, bool worker = false) {
  return R"("event":"enter","devices":[],"waited":)" + std::to_string(waited) + R"(,"worker":)" +
         (worker ? "true" : "false");
}

std::string lease(double waited, const std::string& declares = R"("class":"medium","declared_bytes":1073741824)") {
  return R"("event":"lease","test":"S.a","devices":["G"],"waited":)" + std::to_string(waited) + "," + declares;
}

constexpr const char* release = R"("event":"release")";
constexpr const char* passed = R"("event":"test","test":"S.a","result":"passed","seconds":)";
constexpr const char* end = R"("event":"end","exit":0)";

TEST(EntryRuns, of_processes_take_as_long_as_a_job_of_ctest_but_for_their_waits) {
  // Two at -j1: 0.5 s of waiting to enter, 0.7 s for a lease, which nobody announces. 0.2 s lie between them.
  const auto log = parse_run_log(line(1.5, 1, "a", enter(0.5)) + line(3, 1, "a", lease(0.7)) +
                                 line(3.5, 1, "a", release) + line(4, 1, "a", end) + //
                                 line(4.2, 2, "b", enter(0)) + line(5, 2, "b", lease(0)) + line(6, 2, "b", end));
  const auto entries = entry_times(log);
  EXPECT_NEAR(entries.at("a"), 3 - 0.5 - 0.7 + 0.2, 1e-6);
  EXPECT_NEAR(entries.at("b"), 1.8 + 0.2, 1e-6);
}

TEST(EntryRuns, of_workers_are_their_cases) {
  const auto log = parse_run_log(
      line(1, 1, "a", enter(0, true)) + line(2, 1, "a", lease(0.5)) + line(3, 1, "a", release) +
      line(3, 1, "a", passed + std::string{"1"}) + line(3.5, 1, "b", lease(0.25)) + line(4, 1, "b", release) +
      line(4, 1, "b", passed + std::string{"0.5"}) + line(90, 1, "b", end)); // it was idle since
  const auto entries = entry_times(log);
  EXPECT_NEAR(entries.at("a"), 1 + 0.25, 1e-6);
  EXPECT_NEAR(entries.at("b"), 0.5 + 0.25, 1e-6);
}

TEST(EntryRuns, have_the_time_between_two_of_them_in_the_same_job) {
  EntryRuns runs; // two jobs, of which each begins an entry 0.1 s after the end of another
  runs["a"].ended = 1;
  runs["b"].ended = 1.5;
  runs["c"].begun = 1.1;
  runs["c"].ended = 4;
  runs["d"].begun = 1.6;
  runs["d"].ended = 5;
  EXPECT_NEAR(seconds_between(runs), 0.1, 1e-9);
  EXPECT_EQ(seconds_between({}), 0);
}

TEST(EntryRuns, leave_out_a_wait_in_vain) {
  const auto wait = line(3, 1, "a", R"("event":"wait","test":"S.a","what":"3 GiB")"); // since 2
  const auto of_b = line(7, 1, "b", R"("event":"wait","test":"S.b","what":"3 GiB")") + line(9, 1, "b", end);
  const auto log = parse_run_log(line(1, 1, "a", enter(0)) + wait + line(6, 1, "a", end) + of_b);
  EXPECT_NEAR(entry_runs(log).at("a").waited, 4, 1e-6) << "of its own";
  EXPECT_NEAR(entry_times(log).at("a"), 1, 1e-6);
}

TEST(EntryRuns, have_no_time_if_they_were_skipped) {
  const auto log = parse_run_log(line(1, 1, "a", R"("event":"skip","reason":"no GPU")") +
                                 line(1, 1, "a", R"("event":"test","test":"S.a","result":"skipped","seconds":1)"));
  EXPECT_TRUE(entry_times(log).empty());
}

TEST(EntryRuns, ended_by_themselves_if_their_end_was_recorded_and_nobody_killed_them) {
  const auto ended_with = [](const std::string& event) {
    return entry_runs(parse_run_log(line(1, 1, "a", enter(0)) + event)).at("a").ended_by_itself();
  };
  EXPECT_TRUE(ended_with(line(2, 1, "a", end)));
  EXPECT_TRUE(ended_with(line(2, 1, "a", R"("event":"end","exit":1)")));
  EXPECT_TRUE(ended_with(line(2, 1, "a", R"("event":"end","signal":6)")));
  EXPECT_FALSE(ended_with(line(2, 1, "a", R"("event":"end","signal":9)")));
  EXPECT_FALSE(ended_with(line(2, 1, "a", R"("event":"end","exit":137)"))) << "a shell whose child was killed";
  EXPECT_FALSE(ended_with(line(2, 1, "a", release)));
  const auto of_worker = line(1, 1, "a", enter(0, true)) + line(2, 1, "a", lease(0));
  EXPECT_FALSE(entry_runs(parse_run_log(of_worker)).at("a").ended_by_itself());
  EXPECT_TRUE(
      entry_runs(parse_run_log(of_worker + line(3, 1, "a", passed + std::string{"1"}))).at("a").ended_by_itself());
}

TEST(EntryRuns, have_no_time_if_they_were_killed) {
  const auto log =
      parse_run_log(line(1, 1, "alone", enter(0)) + line(2, 1, "alone", lease(0)) + line(1, 2, "a", enter(0, true)) +
                    line(2, 2, "a", lease(0)) + line(3, 2, "a", release) + line(3, 2, "a", passed + std::string{"1"}) +
                    line(3.5, 2, "b", lease(0)));
  const auto times = entry_times(log);
  EXPECT_EQ(times.count("alone"), 0U);
  EXPECT_EQ(times.count("b"), 0U) << "in a worker";
  EXPECT_EQ(times.count("a"), 1U);
}

} // namespace
} // namespace gputest::insights
