// SPDX-License-Identifier: BSD-3-Clause
#include "support/suite_test.hpp"

#include <gputest/bytes.hpp>

#include <gmock/gmock.h>

#include <csignal>
#include <string>

namespace gputest::tests {
namespace {

using namespace literals;
using testing::HasSubstr;
using testing::Not;

/// What tests allocate, held against what they lease, in an entry of CTest's.
class MeterSuite : public SuiteTest {
protected:
  MeterSuite() {
    set("GPUTEST_TEST", "entry");
    set("GPUTEST_MEMORY", "small");
  }

  [[nodiscard]] std::map<std::string, Report> reports(const std::string& filter) const {
    return reports_of("meter", filter);
  }
  [[nodiscard]] Ended run_some(const std::string& filter) const { return run("meter", {"--gtest_filter=" + filter}); }
};

TEST_F(MeterSuite, records_the_peak_of_each_test_and_how_it_is_known) {
  const auto all = reports("Peak.*");
  EXPECT_EQ(all.at("Peak.several").peak, std::to_string((300_MiB).count()));
  EXPECT_EQ(all.at("Peak.none").peak, "0");
  EXPECT_EQ(all.at("Peak.by_a_resource").peak, std::to_string((300_MiB).count()));
  for (const auto& [name, report] : all) {
    EXPECT_EQ(report.evidence, "exact") << name;
    EXPECT_EQ(report.left, "0") << name;
    EXPECT_EQ(report.failures, "") << name;
  }
}

TEST_F(MeterSuite, fails_a_test_that_takes_more_than_its_lease_and_says_what_it_took) {
  const auto all = reports("Over.by_*:Over.after_it");
  EXPECT_EQ(all.at("Over.by_granularity").failures, "") << "drivers hand out pieces of 2 MiB";
  EXPECT_EQ(all.at("Over.after_it").failures, "");
  EXPECT_EQ(all.at("Over.by_more").overuse, "258 MiB of 256 MiB");
  EXPECT_THAT(all.at("Over.by_more").failures,
              AllOf(HasSubstr("meter.cpp:"), HasSubstr("entry: Over.by_more took 258 MiB, and its lease is 256 MiB: "),
                    HasSubstr("Declare what it needs: GPUTEST_NEEDS(Over, by_more, 259_MiB) or MEMORY 259MiB in ")));
}

TEST_F(MeterSuite, does_not_call_a_figure_exact_if_the_test_has_started_processes) {
  const auto all = reports("Processes.*");
  EXPECT_EQ(all.size(), 2U);
  for (const auto& [name, report] : all) {
    EXPECT_EQ(report.evidence, "sampled") << name;
    EXPECT_EQ(report.peak, "") << name << ": a lower bound of 0 says nothing";
  }
  set("GPUTEST_ENTRY", "ctest");
  EXPECT_THAT(run_some("Processes.*").out, Not(HasSubstr("gputest_peak_mib")));
}

TEST_F(MeterSuite, fails_and_skips_tests_whose_other_failures_are_hidden) {
  const auto all = reports("HidesAll.*");
  EXPECT_THAT(all.at("HidesAll.then_leaks").failures, HasSubstr("ends with 32 MiB of device 0 still allocated"));
  EXPECT_TRUE(all.at("HidesAll.then_too_much").skipped);
  EXPECT_THAT(reports("HidesOwn.*").at("HidesOwn.then_leaks").failures, HasSubstr("still allocated"));
  EXPECT_EQ(run_some("HidesOwn.*").exit_code, 1);
}

TEST_F(MeterSuite, warns_outside_of_entries_and_does_what_the_settings_say) {
  unset("GPUTEST_TEST");
  const Ended warned = run_some("Over.by_more:Leak.some");
  EXPECT_EQ(warned.exit_code, 0) << warned.out;
  EXPECT_THAT(warned.err, HasSubstr("gputest: meter: Over.by_more took 258 MiB, and its lease is 256 MiB"));
  EXPECT_THAT(warned.err, HasSubstr("gputest: meter: Leak.some ends with 32 MiB of device 0 still allocated"));
  set("GPUTEST_OVERUSE", "fail");
  set("GPUTEST_LEAKS", "fail");
  EXPECT_EQ(run_some("Over.by_more").exit_code, 1);
  EXPECT_EQ(run_some("Leak.some").exit_code, 1);
  set("GPUTEST_TEST", "entry");
  set("GPUTEST_OVERUSE", "off");
  set("GPUTEST_LEAKS", "off");
  const Ended off = run_some("Over.by_more:Leak.some");
  EXPECT_EQ(off.exit_code, 0) << off.out;
  EXPECT_EQ(count(off.err, "256 MiB") + count(off.err, "still allocated"), 0U) << off.err;
}

TEST_F(MeterSuite, ends_a_process_before_it_takes_more_than_its_lease_if_told_so) {
  set("GPUTEST_OVERUSE", "stop");
  const Ended stopped = run_some("Over.by_more");
  EXPECT_EQ(stopped.exit_code, 1);
  EXPECT_EQ(count(stopped.out, "OK ] Over.by_more") + count(stopped.out, "FAILED  ]"), 0U) << "it has no result";
  EXPECT_THAT(stopped.err,
              HasSubstr("gputest: entry: Over.by_more asked for memory with which it would have 258 MiB, and its lease "
                        "is 256 MiB. It was stopped before it took more (GPUTEST_OVERUSE=stop). At the peak: "));
  EXPECT_THAT(stopped.err, HasSubstr("GPUTEST_NEEDS(Over, by_more, 259_MiB)"));
  EXPECT_EQ(run_some("Over.after_it:Over.by_granularity").exit_code, 0) << "within a lease nothing ends";
  EXPECT_THAT(run_some("Shared.*").err, HasSubstr("entry: Shared asked for memory with which it would have "));
  EXPECT_EQ(run_some("Scoped.takes_without_a_lease").exit_code, 1) << "as with GPUTEST_OVERUSE=fail";
}

TEST_F(MeterSuite, says_what_a_test_leaves_of_which_nobody_has_declared_the_memory) {
  unset("GPUTEST_MEMORY");
  const Ended leaves = run_some("Leak.some");
  EXPECT_EQ(leaves.exit_code, 0) << leaves.out;
  EXPECT_THAT(leaves.err, HasSubstr("gputest: entry: Leak.some ends with 32 MiB of device 0 still allocated"));
  set("GPUTEST_LEAKS", "fail");
  EXPECT_EQ(run_some("Leak.some").exit_code, 1);
}

TEST_F(MeterSuite, fails_a_test_that_leaves_memory_and_not_the_one_after_it) {
  const auto all = reports("Leak.some:Leak.after_it:Leak.frees_what_another_left");
  EXPECT_EQ(all.at("Leak.some").left, std::to_string((32_MiB).count()));
  EXPECT_THAT(all.at("Leak.some").failures,
              AllOf(HasSubstr("entry: Leak.some ends with 32 MiB of device 0 still allocated: device memory by "
                              "SimulatedBuffer x 2: 32 MiB. It counts as this process's own until it is freed"),
                    HasSubstr("or allow it: GPUTEST_NEEDS(Leak, some, keeps(32_MiB)) or KEEPS 32MiB in ")));
  EXPECT_EQ(all.at("Leak.after_it").failures, "");
  EXPECT_EQ(all.at("Leak.after_it").left, "0");
  EXPECT_EQ(all.at("Leak.frees_what_another_left").failures, "");
}

TEST_F(MeterSuite, allows_what_a_test_or_its_entry_says_that_it_keeps) {
  auto all = reports("Leak.allowed:Leak.more_than_allowed");
  EXPECT_EQ(all.at("Leak.allowed").failures, "");
  EXPECT_EQ(all.at("Leak.allowed").left, std::to_string((32_MiB).count()));
  EXPECT_THAT(all.at("Leak.more_than_allowed").failures, HasSubstr("SimulatedBuffer: 33 MiB. It may keep 32 MiB. It "));
  set("GPUTEST_KEEPS", "32MiB");
  EXPECT_EQ(reports("Leak.some").at("Leak.some").failures, "");
}

TEST_F(MeterSuite, allows_in_sum_what_may_be_kept) {
  EXPECT_EQ(run("meter", {"--gtest_filter=Leak.replaced", "--gtest_repeat=3"}).exit_code, 0);
  const std::string earlier = ". What may be kept in sum has 32 MiB of earlier tests in it already. ";
  const Ended repeated = run("meter", {"--gtest_filter=Leak.allowed", "--gtest_repeat=2"});
  EXPECT_EQ(repeated.exit_code, 1) << repeated.out;
  EXPECT_EQ(count(repeated.out, earlier), 1U) << repeated.out;
  const auto all = reports("LeakTogether.*");
  EXPECT_EQ(all.at("LeakTogether.first").failures, "");
  EXPECT_EQ(all.at("LeakTogether.second").failures, "");
  EXPECT_THAT(all.at("LeakTogether.third").failures, HasSubstr(earlier));
  set("GPUTEST_KEEPS", "32MiB");
  EXPECT_EQ(run("meter", {"--gtest_filter=Leak.some:Leak.of_a_resource"}).exit_code, 1) << "all of the entry together";
}

TEST_F(MeterSuite, fails_what_a_test_takes_without_a_lease) {
  const auto all = reports("Scoped.take*:Scoped.keeps*:Host.*:Peak.none");
  for (const std::string name : {"takes_before_its_lease", "takes_after_its_lease", "takes_without_a_lease"}) {
    EXPECT_THAT(all.at("Scoped." + name).failures, HasSubstr("entry: Scoped." + name + " took 64 MiB without a lease"));
    EXPECT_EQ(all.at("Scoped." + name).overuse, "64 MiB of 0 B");
  }
  EXPECT_THAT(all.at("Host.takes_some").failures,
              AllOf(HasSubstr("entry: Host.takes_some took 64 MiB without a lease: "),
                    HasSubstr("say in place of that what it needs: GPUTEST_NEEDS(Host, takes_some, 64_MiB)")));
  for (const std::string name : {"Scoped.keeps_within_its_lease", "Scoped.takes_next_to_nothing", "Host.takes_none"}) {
    EXPECT_EQ(all.at(name).failures, "") << name;
  }
  set("GPUTEST_OVERUSE", "warn");
  const Ended warned = run_some("Scoped.takes_without_a_lease");
  EXPECT_EQ(warned.exit_code, 0) << warned.out;
  EXPECT_EQ(count(warned.err, "took 64 MiB without a lease"), 1U) << warned.err;
  set("GPUTEST_OVERUSE", "off");
  EXPECT_EQ(count(run_some("Scoped.takes_without_a_lease").err, "without a lease"), 0U);
}

TEST_F(MeterSuite, fails_a_test_that_uses_a_gpu_though_no_test_of_its_process_says_so) {
  set("GPUTEST_DEVICES", "simulated:1x4GiB,context=64MiB");
  EXPECT_EQ(reports("Host.takes_none").at("Host.takes_none").failures, "");
  const auto all = reports("Host.*");
  EXPECT_THAT(
      all.at("Host.takes_some").failures,
      HasSubstr(
          "entry: Host.takes_some says that it uses no GPU (HostTest, no_gpu, MEMORY none), and has made a context"));
  EXPECT_EQ(all.at("Host.takes_none").failures, "") << "it runs after it";
  set("GPUTEST_OVERUSE", "warn");
  const Ended warned = run_some("Host.*");
  EXPECT_EQ(warned.exit_code, 0) << warned.out;
  EXPECT_EQ(count(warned.err, "says that it uses no GPU"), 1U) << warned.err;
  set("GPUTEST_OVERUSE", "fail");
  set("GPUTEST_MEMORY", "unseen");
  const Ended seen = run_some("Host.*");
  EXPECT_EQ(seen.exit_code, 0) << seen.out;
  EXPECT_EQ(count(seen.err, "Host.takes_some is in an executable that names no library of GPUs, and has made"), 1U);
}

TEST_F(MeterSuite, holds_the_tests_of_a_suite_lease_against_it_together_and_names_the_one) {
  const auto all = reports("Shared.*");
  EXPECT_EQ(all.at("Shared.adds_some").failures, "");
  EXPECT_THAT(all.at("Shared.adds_too_much").failures,
              AllOf(HasSubstr("entry: Shared took 556 MiB, and its lease is 512 MiB: "),
                    HasSubstr("Declare what it needs: GPUTEST_SUITE_NEEDS(Shared, 556_MiB, suite_lease)")));
  EXPECT_EQ(all.at("Shared.is_not_blamed").failures, "");
  set("FORGET", "1");
  const Ended ended = run_some("Shared.adds_some");
  EXPECT_EQ(ended.exit_code, 1) << ended.out;
  EXPECT_THAT(ended.out, HasSubstr("entry: Shared ends with 256 MiB of device 0 still allocated: "));
  EXPECT_THAT(ended.out, HasSubstr("GPUTEST_SUITE_NEEDS(Shared, 512_MiB, keeps(256_MiB), suite_lease)"));
  set("GPUTEST_ENTRY", "will_fail");
  EXPECT_EQ(run_some("Shared.adds_some").signal, SIGKILL) << "that is no failure which WILL_FAIL expects";
}

TEST_F(MeterSuite, says_what_a_test_had_before_it_ran_out_of_memory_and_of_which_device_it_had_most) {
  set("GPUTEST_DEVICES", "simulated:2x4GiB,context=0");
  const auto all = reports("Over.runs_out_after*:Over.runs_out_without_bytes:Scoped.runs_out*");
  EXPECT_THAT(
      all.at("Over.runs_out_after_it_had_more").out_of_memory,
      AllOf(HasSubstr("lease of 256 MiB. It had allocated 100 MiB itself, and 400 MiB before: beyond its lease. No "
                      "process is seen"),
            HasSubstr("If the test needs more than its lease, declare it, for example twice as much: "
                      "GPUTEST_NEEDS(Over, runs_out_after_it_had_more, 512_MiB)")));
  EXPECT_THAT(all.at("Over.runs_out_without_bytes").out_of_memory,
              HasSubstr("It had allocated 20 MiB itself: within its lease. "));
  EXPECT_THAT(all.at("Scoped.runs_out_without_a_lease").out_of_memory,
              HasSubstr("Scoped.runs_out_without_a_lease ran out of memory without a lease. No process is seen"));
  EXPECT_THAT(all.at("Scoped.runs_out_without_a_lease").out_of_memory, Not(HasSubstr("It had allocated")));
}

TEST_F(MeterSuite, names_who_had_leases_when_a_test_runs_out_of_memory) {
  auto holder = start_holder();
  auto waiter = start("annotated", {"--gtest_filter=Medium.with_bytes"});
  wait_for(waiter, policy::Stage::waiting);
  const auto text = reports("Over.runs_out").at("Over.runs_out").out_of_memory;
  EXPECT_THAT(text, HasSubstr("Other leases there: entry: Medium.with_bytes (pid " + std::to_string(holder.pid()) +
                              ", 3 GiB, for "));
  EXPECT_THAT(text, Not(HasSubstr("(pid " + std::to_string(waiter.pid()))));
  static_cast<void>(holder.finish());
}

} // namespace
} // namespace gputest::tests
