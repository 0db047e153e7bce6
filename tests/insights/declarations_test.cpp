// SPDX-License-Identifier: BSD-3-Clause
#include "insights/declarations.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace gputest::insights {
namespace {

using namespace literals;
using testing::ElementsAre;
using Verdict = Declaration::Verdict;

constexpr std::uint64_t mib = std::uint64_t{1} << 20U;
constexpr std::uint64_t gib = std::uint64_t{1} << 30U;

/// What a run says of one test that was measured exactly and passed, with a lease of its own process.
struct Ran {
  std::string test = "S.a";
  std::uint64_t leased = 8 * gib;
  std::uint64_t used = gib;
  std::string entry = "e";
  std::string evidence = "exact";
  std::string result = "passed"; ///< empty: the log has no result of a test
};

/// Runs on a device of 16 GiB with an overhead of 1 GiB, with entries that ctest started.
class Runs {
public:
  explicit Runs(const std::vector<Ran>& tests) {
    log.folder = "/build";
    log.devices = {{"GPU-1", "H200", 16 * gib, 0}};
    for (const auto& test : tests) {
      add(test);
    }
  }

  Runs& add(const Ran& ran) {
    const double begun = 10.0 * static_cast<double>(log.leases.size());
    LoggedProcess process;
    process.entry = ran.entry;
    process.pid = static_cast<std::int64_t>(log.leases.size()) + 1;
    process.begun = process.asked = begun;
    process.ended = begun + 9;
    process.open_ended = false;
    process.exit = 0;
    log.processes.push_back(process);
    LoggedLease lease;
    lease.entry = ran.entry;
    lease.test = ran.test;
    lease.pid = process.pid;
    lease.bytes = ran.leased;
    lease.declared_bytes = ran.leased;
    lease.memory_class = "medium";
    lease.declared_by = "test";
    lease.devices = {"GPU-1"};
    lease.begun = lease.asked = begun + 1;
    lease.ended = begun + 2;
    lease.evidence = ran.evidence;
    lease.program = {"/bin/" + ran.entry, 1, 1};
    lease.overhead_bytes = gib;
    lease.uses = {{"GPU-1", ran.used, 0}};
    log.leases.push_back(lease);
    if (!ran.result.empty()) {
      log.tests.push_back({ran.entry, ran.test, ran.result, 1, "", begun + 3, process.pid, "s.cpp"});
    }
    return *this;
  }

  /// Of the only test, or of the first.
  [[nodiscard]] Declaration first() const { return declarations_of({&log}).at(0); }

  RunLog log;
};

Verdict verdict_of(std::uint64_t leased, std::uint64_t used) {
  return Runs{{Ran{"S.a", leased, used}}}.first().verdict;
}

TEST(AdvisedBytes, are_a_twentieth_more_rounded_up_in_steps_that_grow_with_the_size) {
  const std::vector<std::pair<Bytes, Bytes>> rows{{0_B, 64_MiB},       {60_MiB, 64_MiB},  {64_MiB, 128_MiB},
                                                  {1_GiB, 1088_MiB},   {2_GiB, 2304_MiB}, {10_GiB, 10752_MiB},
                                                  {15_GiB, 16128_MiB}, {16_GiB, 17_GiB},  {22_GiB, 24_GiB}};
  for (const auto& [used, advised] : rows) {
    EXPECT_EQ(advised_bytes(used.count()), advised) << to_string(used);
  }
}

TEST(Declarations, are_too_small_from_more_than_two_mib_on_and_too_large_if_half_of_them_and_256_mib_are_left) {
  EXPECT_EQ(verdict_of(gib, gib + 2 * mib), Verdict::fits);
  EXPECT_EQ(verdict_of(gib, gib + 2 * mib + 1), Verdict::over);
  EXPECT_EQ(verdict_of(2176 * mib, gib), Verdict::under) << "twice the 1088 MiB that are advised";
  EXPECT_EQ(verdict_of(2175 * mib, gib), Verdict::fits);
  EXPECT_EQ(verdict_of(320 * mib, 0), Verdict::under) << "64 MiB are advised";
  EXPECT_EQ(verdict_of(319 * mib, 0), Verdict::fits);
}

TEST(Declarations, of_which_nothing_was_measured_are_not_known) {
  Runs runs{{Ran{}}};
  runs.log.leases[0].uses.clear();
  const auto of = runs.first();
  EXPECT_EQ(of.verdict, Verdict::unknown);
  EXPECT_FALSE(of.exact);
  EXPECT_EQ(of.runs, 0U);
  EXPECT_EQ(of.most(), 0U);
  EXPECT_EQ(of.advised, Bytes{});
}

TEST(Declarations, have_what_the_log_says_of_their_test) {
  const auto of = Runs{{Ran{}}}.first();
  EXPECT_EQ(of.entry, "e");
  EXPECT_EQ(of.test, "S.a");
  EXPECT_EQ(of.leased, 8 * gib);
  EXPECT_EQ(of.declared, 8 * gib);
  EXPECT_EQ(of.memory_class, "medium");
  EXPECT_FALSE(of.whole_devices);
  EXPECT_THAT(of.measured, ElementsAre(testing::Pair("H200", gib)));
  EXPECT_TRUE(of.exact);
  EXPECT_FALSE(of.lower_bound);
  EXPECT_EQ(of.runs, 1U);
  EXPECT_EQ(of.advised, 1088_MiB);
  EXPECT_EQ(of.most_there, 15 * gib) << "without the overhead of its process";
}

TEST(Declarations, take_the_most_of_all_leases_of_a_run) {
  for (const bool first : {true, false}) {
    Runs runs{{Ran{}, Ran{}}};
    auto& lease = runs.log.leases[first ? 0 : 1];
    lease.bytes = 12 * gib;
    lease.declared_bytes = 11 * gib;
    lease.uses[0].peak_bytes = 2 * gib;
    lease.overhead_bytes = 0;
    lease.whole_devices = true;
    const auto of = runs.first();
    EXPECT_EQ(of.leased, 12 * gib);
    EXPECT_EQ(of.declared, 11 * gib);
    EXPECT_EQ(of.most(), 2 * gib);
    EXPECT_EQ(of.most_there, 16 * gib);
    EXPECT_TRUE(of.whole_devices);
    EXPECT_EQ(of.runs, 1U);
  }
}

TEST(Declarations, have_the_most_of_each_device_model) {
  Runs runs{{Ran{}}};
  runs.log.devices.push_back({"GPU-2", "A2", 4 * gib, 3 * gib});
  runs.log.devices.push_back({"GPU-3", "H200", 64 * gib, 0});
  auto& lease = runs.log.leases[0];
  lease.devices = {"GPU-1", "GPU-2"};
  lease.uses = {{"GPU-1", gib, 0}, {"GPU-2", 3 * gib, 0}, {"GPU-3", 4 * gib, 0}};
  const auto of = runs.first();
  EXPECT_THAT(of.measured, ElementsAre(testing::Pair("A2", 3 * gib), testing::Pair("H200", 4 * gib)));
  EXPECT_EQ(of.most(), 4 * gib);
  EXPECT_EQ(of.most_there, 15 * gib) << "of a device that it had, the largest";
  lease.devices = {"GPU-2"};
  EXPECT_EQ(runs.first().most_there, 2 * gib) << "what is usable, if the log says it";
  lease.overhead_bytes = 5 * gib;
  EXPECT_EQ(runs.first().most_there, 0U);
}

TEST(Declarations, advise_what_was_measured_in_whole_mib_as_the_failing_test_does_unless_no_device_has_it) {
  EXPECT_EQ((Runs{{Ran{"S.a", gib, 2 * gib + 1}}}.first().advised), 2049_MiB);
  EXPECT_EQ((Runs{{Ran{"S.a", gib, 15 * gib}}}.first().advised), 15_GiB) << "beside its context of 1 GiB";
  EXPECT_EQ((Runs{{Ran{"S.a", gib, 15 * gib + 1}}}.first().advised), 0_B);
}

TEST(Declarations, of_a_whole_device_are_compared_with_the_device) {
  Runs runs{{Ran{"S.a", 0, gib}}};
  runs.log.leases[0].whole_devices = true;
  EXPECT_EQ(runs.first().verdict, Verdict::under);
  runs.log.leases[0].uses[0].peak_bytes = 14 * gib;
  EXPECT_EQ(runs.first().verdict, Verdict::fits);
  runs.log.leases[0].uses[0].peak_bytes = 20 * gib;
  EXPECT_EQ(runs.first().verdict, Verdict::fits) << "never too small";
}

TEST(Declarations, come_with_those_first_that_are_the_furthest_off) {
  const Runs runs{{Ran{"S.fits", 4 * gib, 3 * gib}, Ran{"S.not_known", 2 * gib, 2 * gib, "e", "sampled"},
                   Ran{"S.a_bit_under", 8 * gib, 3 * gib}, Ran{"S.under", 8 * gib, 2 * gib},
                   Ran{"S.a_bit_over", gib, 2 * gib}, Ran{"S.over", gib, 3 * gib}}};
  std::vector<std::string> tests;
  for (const auto& of : declarations_of({&runs.log})) {
    tests.push_back(of.test);
    EXPECT_EQ(of.runs, 1U) << of.test;
  }
  EXPECT_THAT(tests, ElementsAre("S.over", "S.a_bit_over", "S.under", "S.a_bit_under", "S.not_known", "S.fits"));
}

TEST(Declarations, count_in_the_newest_run_and_the_use_in_all) {
  Runs newest{{Ran{"S.a", 3 * gib, gib}}};
  newest.log.leases[0].memory_class = "small";
  Runs older{{Ran{"S.a", 8 * gib, 2 * gib}, Ran{"S.a", 8 * gib, gib}, Ran{"S.old", gib, gib}}};
  older.log.leases[0].whole_devices = true;
  const auto all = declarations_of({&newest.log, &older.log});
  const auto of = *std::find_if(all.begin(), all.end(), [](const Declaration& each) { return each.test == "S.a"; });
  EXPECT_EQ(of.leased, 3 * gib);
  EXPECT_EQ(of.declared, 3 * gib);
  EXPECT_EQ(of.memory_class, "small");
  EXPECT_FALSE(of.whole_devices);
  EXPECT_EQ(of.most(), 2 * gib);
  EXPECT_EQ(of.runs, 2U) << "one of them with two leases";
  EXPECT_EQ(all.size(), 2U);
  EXPECT_TRUE(declarations_of({}).empty());
}

TEST(Declarations, are_not_exact_if_one_figure_is_a_lower_bound) {
  const std::vector<std::function<void(LoggedLease&)>> changes{
      [](LoggedLease& lease) { lease.evidence = "sampled"; },
      [](LoggedLease& lease) { lease.uses[0].kept_bytes = 1; }, // what earlier tests had left may serve this one
  };
  for (const auto& change : changes) {
    for (const bool first : {true, false}) {
      Runs runs{{Ran{}}};
      runs.log.leases.push_back(runs.log.leases[0]); // of the same attempt
      change(runs.log.leases[first ? 0 : 1]);
      EXPECT_FALSE(runs.first().exact);
      EXPECT_TRUE(runs.first().lower_bound);
      EXPECT_EQ(runs.first().verdict, Verdict::unknown);
    }
  }
}

TEST(Declarations, are_exact_if_an_attempt_that_passed_used_as_much_as_any_other) {
  const Ran known{};
  Ran failed{};
  failed.result = "failed";
  Ran sampled{};
  sampled.evidence = "sampled";
  for (auto other : {failed, sampled}) {
    for (const bool first : {true, false}) {
      EXPECT_TRUE((Runs{first ? std::vector{known, other} : std::vector{other, known}}.first().exact));
      const Runs runs[]{Runs{{known}}, Runs{{other}}};
      const auto of = declarations_of({&runs[first ? 0 : 1].log, &runs[first ? 1 : 0].log}).at(0);
      EXPECT_TRUE(of.exact);
      EXPECT_FALSE(of.lower_bound);
      EXPECT_EQ(of.verdict, Verdict::under);
    }
    other.used = 2 * gib;
    EXPECT_FALSE((Runs{{other, known}}.first().exact)) << "it may need more than that";
  }
}

TEST(Declarations, are_each_of_its_own_test_and_entry) {
  Runs runs{{Ran{}, Ran{"S.b"}, Ran{"S.a", gib, gib, "other"}}};
  runs.log.tests[2].result = "failed";
  for (const auto& of : declarations_of({&runs.log})) {
    EXPECT_EQ(of.exact, of.entry == "e");
  }
}

TEST(Declarations, of_a_suite_are_exact_if_all_passed) {
  Runs runs{{Ran{"S", 8 * gib, gib, "e", "exact", ""}}};
  for (const std::string test : {"S.a", "S.b", "T.c"}) {
    runs.log.tests.push_back({"e", test, "passed", 1, "", 3, 1});
  }
  const auto of = runs.first();
  EXPECT_TRUE(of.exact);
  runs.log.tests[1].result = "failed";
  EXPECT_FALSE(runs.first().exact);
}

TEST(Declarations, of_a_test_that_the_log_has_no_result_of_are_not_exact_unless_its_program_has_no_tests) {
  Runs without_tests{{Ran{"", 8 * gib, gib, "e", "exact", ""}}};
  EXPECT_TRUE(without_tests.first().exact);
  without_tests.log.processes[0].exit = 1;
  EXPECT_FALSE(without_tests.first().exact);
  Runs launcher{{Ran{"", 8 * gib, gib, "e", "exact", ""}}};
  launcher.log.tests.push_back({"e", "S.a", "passed", 1, "", 3, 1});
  EXPECT_TRUE(launcher.first().exact) << "the lease of the entry is for all of its tests";
  launcher.log.tests.push_back({"e", "S.b", "failed", 1, "", 3, 1});
  EXPECT_FALSE(launcher.first().exact);
  Runs named{{Ran{"section", 8 * gib, gib, "e", "exact", ""}}};
  EXPECT_TRUE(named.first().exact);
  named.log.tests.push_back({"e", "S.other", "passed", 1, "", 3, 1});
  EXPECT_FALSE(named.first().exact);
}

} // namespace
} // namespace gputest::insights
