// SPDX-License-Identifier: BSD-3-Clause
#include "insights/entry_runs.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gputest::insights {
namespace {

using namespace literals;

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

double time_of(const MeasuredEntries& entries, const std::string& name) {
  return entries.at(name).time.value().count();
}

TEST(EntryRuns, of_processes_take_as_long_as_a_job_of_ctest_but_for_their_waits) {
  // Two at -j1: 0.5 s of waiting to enter, 0.7 s for a lease, which nobody announces. 0.2 s lie between them.
  const auto log = parse_run_log(line(1.5, 1, "a", enter(0.5)) + line(3, 1, "a", lease(0.7)) +
                                 line(3.5, 1, "a", release) + line(4, 1, "a", end) + //
                                 line(4.2, 2, "b", enter(0)) + line(5, 2, "b", lease(0)) + line(6, 2, "b", end));
  const auto entries = measured_entries(log);
  EXPECT_NEAR(time_of(entries, "a"), 3 - 0.5 - 0.7 + 0.2, 1e-6);
  EXPECT_NEAR(time_of(entries, "b"), 1.8 + 0.2, 1e-6);
}

TEST(EntryRuns, of_workers_are_their_cases) {
  const auto log = parse_run_log(
      line(1, 1, "a", enter(0, true)) + line(2, 1, "a", lease(0.5)) + line(3, 1, "a", release) +
      line(3, 1, "a", passed + std::string{"1"}) + line(3.5, 1, "b", lease(0.25)) + line(4, 1, "b", release) +
      line(4, 1, "b", passed + std::string{"0.5"}) + line(90, 1, "b", end)); // it was idle since
  const auto entries = measured_entries(log);
  EXPECT_NEAR(time_of(entries, "a"), 1 + 0.25, 1e-6);
  EXPECT_NEAR(time_of(entries, "b"), 0.5 + 0.25, 1e-6);
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

TEST(EntryRuns, have_no_time_if_they_were_skipped) {
  const auto log = parse_run_log(line(1, 1, "a", R"("event":"skip","reason":"no GPU")") +
                                 line(1, 1, "a", R"("event":"test","test":"S.a","result":"skipped","seconds":1)"));
  EXPECT_FALSE(measured_entries(log).at("a").time);
}

TEST(EntryRuns, ask_for_the_largest_of_their_leases) {
  const auto log = parse_run_log(line(1, 1, "a", enter(0)) + line(2, 1, "a", lease(0, R"("class":"small")")) +
                                 line(3, 1, "a", release) + line(3, 1, "a", lease(0)) + line(4, 1, "a", release) +
                                 line(5, 1, "a", end));
  const auto entries = measured_entries(log);
  EXPECT_EQ(entries.at("a").request.value().bytes, 1_GiB);
  EXPECT_EQ(entries.at("a").request.value().memory_class, MemoryClass::medium);
}

TEST(EntryRuns, a_request_asks_for_less_by_its_gpus_its_class_and_its_bytes) {
  const auto with = [](Request request, int gpus) {
    request.gpus = gpus;
    return request;
  };
  const std::vector<Request> rising{with(Request{1_GiB}, 1), with(Request{2_GiB}, 1),
                                    with(Request{MemoryClass::medium}, 1), with(Request{MemoryClass::large}, 1),
                                    with(Request{1_GiB}, 2)};
  for (std::size_t i = 0; i < rising.size(); ++i) {
    for (std::size_t j = 0; j < rising.size(); ++j) {
      EXPECT_EQ(asks_for_less(rising[i], rising[j]), i < j) << i << " " << j;
    }
  }
}

} // namespace
} // namespace gputest::insights
