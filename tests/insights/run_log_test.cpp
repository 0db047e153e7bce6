// SPDX-License-Identifier: BSD-3-Clause
#include "insights/run_log.hpp"

#include "support/message_of.hpp"

#include <gputest/error.hpp>

#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <tuple>

namespace gputest::insights {
namespace {

using testing::ElementsAre;
using testing::FieldsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::string line(const std::string& t, int pid, const std::string& rest) {
  return R"({"t":)" + t + R"(,"pid":)" + std::to_string(pid) + R"(,"entry":"sort",)" + rest + "}\n";
}

const std::string run = line("100.0", 7, R"("event":"run","version":1,"host":"h","run_mode":"ctest -j 4","jobs":4)");
const std::string enter =
    line("101.0", 7,
         R"("event":"enter","devices":[{"uuid":"GPU-1","name":"H200","bytes":1000}],"overhead_bytes":5,"waited":0.5)");
const std::string lease = line(
    "103.0", 7,
    R"("test":"Sort.Keys","event":"lease","request":"3 GiB","bytes":300,"devices":["GPU-1"],"waited":1.5,"declared_bytes":300)");
const std::string release = line(
    "104.0", 7,
    R"("test":"Sort.Keys","event":"release","held":1.0,"evidence":"exact","devices":[{"uuid":"GPU-1","peak_bytes":200}])");
const std::string end = line("105.0", 7, R"("event":"end","exit":0)");

TEST(RunLogs, keep_every_figure_and_name_of_a_process_and_its_lease) {
  const auto log = parse_run_log(
      line("100.0", 6,
           R"("event":"run","version":1,"host":"h","gputest":"1.2","run_mode":"ctest -j 4","folder":"/b","jobs":4)") +
      line("101.0", 7,
           R"("event":"enter","devices":[{"uuid":"GPU-1","name":"H200","bytes":1000,"usable_bytes":900},)"
           R"({"uuid":"GPU-2","name":"A2","bytes":500}],"overhead_bytes":5,"waited":0.5,"program":"/bin/sort",)"
           R"("started":"for the first case")") +
      line("103.0", 7,
           R"("test":"S.k","event":"lease","request":"3 GiB","class":"medium","declared_bytes":250,)"
           R"("bytes":300,"whole_devices":true,"devices":["GPU-2","GPU-1"],"waited":1.5)") +
      line("104.0", 7,
           R"("test":"S.k","event":"release","evidence":"sampled","devices":[{"uuid":"GPU-1","peak_bytes":200},)"
           R"({"uuid":"GPU-2","peak_bytes":0},{"uuid":"GPU-3"}])") +
      line("105.0", 7, R"("test":"S.k","event":"end","exit":3)"));
  EXPECT_THAT(std::tie(log.host, log.gputest, log.run_mode, log.folder), FieldsAre("h", "1.2", "ctest -j 4", "/b"));
  EXPECT_EQ(log.events, 5U);
  EXPECT_EQ(log.jobs, 4U);
  EXPECT_THAT(std::tie(log.begun, log.ended), FieldsAre(100, 105));
  ASSERT_THAT(log.devices, SizeIs(2));
  EXPECT_THAT(log.devices[0], FieldsAre("GPU-1", "H200", 1000U, 900U));
  EXPECT_THAT(log.devices[1], FieldsAre("GPU-2", "A2", 500U, 0U));
  ASSERT_THAT(log.processes, SizeIs(1));
  const auto& process = log.processes[0];
  EXPECT_EQ(process.entry, "sort");
  EXPECT_EQ(process.pid, 7);
  EXPECT_THAT(process.devices, ElementsAre("GPU-1", "GPU-2"));
  EXPECT_EQ(process.overhead_bytes, 5U);
  EXPECT_EQ(process.begun, 101);
  EXPECT_FALSE(process.open_ended);
  EXPECT_FALSE(process.under_a_lease);
  EXPECT_EQ(process.why_started, "for the first case");
  EXPECT_EQ(process.exit, 3);
  ASSERT_THAT(log.leases, SizeIs(1));
  const auto& of = log.leases[0];
  EXPECT_THAT(std::tie(of.entry, of.test, of.pid), FieldsAre("sort", "S.k", 7));
  EXPECT_EQ(of.memory_class, "medium");
  EXPECT_THAT(std::tie(of.bytes, of.overhead_bytes), FieldsAre(895U, 5U)) << "what its process may have";
  EXPECT_TRUE(of.whole_devices);
  EXPECT_THAT(of.devices, ElementsAre("GPU-2", "GPU-1"));
  EXPECT_THAT(std::tie(of.asked, of.begun, of.ended), FieldsAre(101.5, 103, 104));
  EXPECT_EQ(of.evidence, "sampled");
  EXPECT_EQ(process.program, "/bin/sort");
  EXPECT_THAT(of.peaks, ElementsAre(testing::Pair("GPU-1", 200U), testing::Pair("GPU-2", 0U)))
      << "and none of a device without a figure";
}

TEST(RunLogs, keep_the_results_the_skips_and_the_problems_of_tests) {
  const auto log =
      parse_run_log(line("101.0", 7,
                         R"("test":"S.k","event":"test","result":"skipped","seconds":0.25,"reason":"why",)"
                         R"("file":"t.cpp","line":5)") +
                    line("102.0", 8, R"("event":"skip","reason":"no GPU","class":"large")") +
                    line("103.0", 7, R"("test":"S.e","event":"error","error":"CUDA_ERROR_X","text":"not this")") +
                    line("104.0", 7, R"("test":"S.m","event":"out_of_memory","text":"who had it")") +
                    line("105.0", 7, R"("test":"S.l","event":"leak","text":"left")") +
                    line("106.0", 7, R"("test":"S.o","event":"overuse","text":"beyond")") +
                    line("107.0", 7, R"("test":"S.a","event":"again","text":"needs more","attempt":"1")"));
  EXPECT_THAT(log.tests, ElementsAre(FieldsAre("sort", "S.k", "skipped", 0.25, "why", 101, 7, "t.cpp", 5U)));
  EXPECT_THAT(log.skips, ElementsAre(FieldsAre("sort", "", "no GPU", "large")));
  EXPECT_THAT(log.problems,
              ElementsAre(FieldsAre("sort", "S.e", "error", "CUDA_ERROR_X"),
                          FieldsAre("sort", "S.m", "out_of_memory", "who had it"),
                          FieldsAre("sort", "S.l", "leak", "left"), FieldsAre("sort", "S.o", "overuse", "beyond"),
                          FieldsAre("sort", "S.a", "ran again", "needs more")));
}

TEST(RunLogs, count_the_leases_of_a_process_that_has_become_another_program_to_the_one_that_leases) {
  const auto becomes = line("104.5", 7, R"("event":"enter","devices":[],"under_a_lease":true,"program":"/bin/other")");
  const auto own = line("101.0", 7, R"("event":"enter","devices":[],"overhead_bytes":5,"program":"/bin/launcher")");
  const auto log = parse_run_log(run + own + lease + becomes + lease + line("106.0", 7, R"("event":"end","exit":4)") +
                                 line("107.0", 7, R"("event":"end","exit":0)"));
  ASSERT_THAT(log.processes, SizeIs(2));
  EXPECT_TRUE(log.processes[1].under_a_lease);
  EXPECT_EQ(log.processes[1].exit, 4) << "the last that entered ends first";
  EXPECT_EQ(log.processes[0].exit, 0);
  EXPECT_EQ(log.processes[0].ended, 107);
  EXPECT_EQ(log.leases.at(1).overhead_bytes, 5U);
}

TEST(RunLogs, leave_out_the_end_of_what_has_not_begun) {
  const auto log =
      parse_run_log(run + release + line("104.5", 9, R"("event":"end","exit":1)") + enter + lease + release + release);
  EXPECT_EQ(log.leases.at(0).ended, 104);
  EXPECT_THAT(log.leases.at(0).peaks, SizeIs(1));
  EXPECT_EQ(log.processes.at(0).exit, std::nullopt);
}

TEST(RunLogs, have_no_use_of_a_lease_of_which_nothing_is_known) {
  const auto unknown = line("104.0", 7,
                            R"("test":"Sort.Keys","event":"release","held":1.0,"evidence":"unknown",)"
                            R"("devices":[{"uuid":"GPU-1","peak_bytes":0}])");
  EXPECT_TRUE(parse_run_log(run + enter + lease + unknown).leases.at(0).peaks.empty());
}

TEST(RunLogs, say_of_a_command_that_a_signal_has_ended_what_a_shell_says) {
  const auto log = parse_run_log(run + enter + line("105.0", 7, R"("event":"end","signal":9)"));
  EXPECT_EQ(log.processes.at(0).exit, 137);
}

TEST(RunLogs, end_a_lease_with_its_process_or_with_the_last_line_of_one_that_was_killed) {
  const auto ended = parse_run_log(run + enter + lease + end);
  EXPECT_EQ(ended.leases.at(0).ended, 105);
  EXPECT_FALSE(ended.leases.at(0).open_ended);
  const auto killed = parse_run_log(run + enter + lease + line("110.0", 8, R"("event":"end","exit":0)"));
  EXPECT_EQ(killed.leases.at(0).ended, 103);
  EXPECT_TRUE(killed.leases.at(0).open_ended);
  EXPECT_TRUE(killed.processes.at(0).open_ended);
}

TEST(RunLogs, tell_processes_with_one_number_apart) {
  const auto again = line("200.0", 7, R"("event":"enter","devices":[],"waited":0)");
  const auto log = parse_run_log(run + enter + lease + again + line("300.0", 7, R"("event":"end","exit":1)"));
  EXPECT_TRUE(log.processes.at(0).open_ended);
  EXPECT_EQ(log.processes.at(0).ended, 103);
  EXPECT_EQ(log.leases.at(0).ended, 103);
  EXPECT_EQ(log.processes.at(1).exit, 1);
}

TEST(RunLogs, know_how_long_a_wait_was_by_the_lease_after_it) {
  const auto wait = line(
      "102.5", 7,
      R"("test":"Sort.Keys","event":"wait","what":"3 GiB","blockers":[{"who":"join"},{"who":"join"},{"who":"fft"}],"external":true,"external_bytes":9)");
  const auto log = parse_run_log(run + enter + wait + lease);
  ASSERT_THAT(log.waits, SizeIs(1));
  EXPECT_EQ(log.waits[0].waited, 1.5);
  EXPECT_THAT(log.waits[0].blockers, ElementsAre("join", "fft"));
  EXPECT_TRUE(log.waits[0].external);
  EXPECT_EQ(log.waits[0].external_bytes, 9U);
}

TEST(RunLogs, know_how_long_a_process_waited_to_enter_and_not_how_long_an_earlier_one_of_its_number_did) {
  const auto waits = [](const std::string& t, int pid, const std::string& what) {
    return line(t, pid,
                R"("event":"wait","what":")" + what +
                    R"(","blockers":[{"who":"join"}],"excesses":[{"who":"leaks"},{"who":"join"}])");
  };
  const auto log = parse_run_log(run + waits("100.6", 7, "to enter") + enter + waits("100.7", 8, "3 GiB") +
                                 line("101.0", 8, R"("event":"enter","devices":[],"waited":0.25)") +
                                 line("108.0", 8, R"("event":"lease","bytes":1,"devices":[],"waited":5)"));
  ASSERT_THAT(log.waits, SizeIs(2));
  EXPECT_THAT(std::tie(log.waits[0].entry, log.waits[0].test, log.waits[0].pid, log.waits[0].what),
              FieldsAre("sort", "", 7, "to enter"));
  EXPECT_THAT(std::tie(log.waits[0].noticed, log.waits[0].waited), FieldsAre(100.6, 0.5));
  EXPECT_THAT(log.waits[0].blockers, ElementsAre("leaks", "join")) << "who takes more than it has leased comes first";
  EXPECT_FALSE(log.waits[0].external);
  EXPECT_EQ(log.waits[1].waited, 0);
}

TEST(RunLogs, end_a_wait_in_vain_with_the_next_that_its_process_does) {
  const auto wait = line("102.5", 7, R"("test":"Sort.Keys","event":"wait","what":"3 GiB")");
  const auto failed = line("105.5", 7, R"("test":"Sort.Keys","event":"test","result":"failed","seconds":0)");
  for (const auto& next :
       {failed, line("105.5", 7, R"("event":"end","exit":1)"), line("105.5", 7, R"("event":"skip")")}) {
    const auto log = parse_run_log(run + enter + wait + next + line("109.0", 7, R"("event":"end","exit":1)"));
    EXPECT_THAT(log.waits, ElementsAre(testing::AllOf(testing::Field(&LoggedWait::waited, 4),
                                                      testing::Field(&LoggedWait::in_vain, true))))
        << next;
  }
  EXPECT_FALSE(parse_run_log(run + enter + wait + lease + end).waits.at(0).in_vain);
}

TEST(RunLogs, end_each_wait_with_its_own_lease) {
  const auto wait = line("102.5", 7, R"("event":"wait","what":"3 GiB")");
  const auto later = line("109.0", 7, R"("event":"lease","bytes":1,"devices":[],"waited":4)");
  const auto log = parse_run_log(run + enter + wait + lease + release + later);
  EXPECT_THAT(log.waits, ElementsAre(testing::Field(&LoggedWait::waited, 1.5)));
}

TEST(RunLogs, have_no_time_that_no_run_takes) {
  const auto log = parse_run_log(run + line("101.0", 7, R"("event":"lease","devices":[1,"GPU-1"],"waited":1e300)") +
                                 line("1e300", 7, R"("event":"end","exit":0)") +
                                 line("0", 7, R"("event":"end","exit":0)") + line("102.0", 7, R"("x":1)"));
  EXPECT_EQ(log.leases.at(0).asked, 101);
  EXPECT_THAT(log.leases.at(0).devices, ElementsAre("GPU-1"));
  EXPECT_EQ(log.unreadable_lines, 3U);
  EXPECT_EQ(log.events, 2U);
  EXPECT_EQ(log.ended, 101);
}

TEST(RunLogs, leave_out_what_they_do_not_know) {
  const auto log = parse_run_log(
      run + line("101.0", 7, R"("event":"new","x":[{}])") +
      line("102.0", 7, R"("event":"lease","bytes":"many","devices":3,"waited":null,"class":3,"whole_devices":1)") +
      line("103.0", 7, R"("event":"release","devices":[3,{"uuid":"GPU-1"}])") + enter);
  EXPECT_TRUE(log.problems.empty()) << "a new event is none";
  EXPECT_EQ(log.leases.at(0).memory_class, "");
  EXPECT_FALSE(log.leases.at(0).whole_devices);
  EXPECT_EQ(log.leases.at(0).evidence, "unknown");
  EXPECT_TRUE(log.leases.at(0).peaks.empty());
  EXPECT_EQ(log.unreadable_lines, 0U);
  EXPECT_EQ(log.leases.at(0).bytes, 0U);
  EXPECT_THAT(log.processes, SizeIs(1));
}

TEST(RunLogs, count_lines_that_a_kill_has_cut) {
  const auto log = parse_run_log(run + lease.substr(0, 40) + "\n\n" + enter + end.substr(0, end.size() - 3));
  EXPECT_EQ(log.unreadable_lines, 2U);
  EXPECT_EQ(log.events, 2U);
}

TEST(RunLogs, have_no_test_with_another_result_than_passed_failed_and_skipped) {
  const auto log = parse_run_log(run + line("101.0", 7, R"("event":"test","result":"odd","seconds":1)"));
  EXPECT_TRUE(log.tests.empty());
  EXPECT_EQ(log.unreadable_lines, 1U);
}

TEST(RunLogs, of_another_version_are_refused) {
  EXPECT_THAT(tests::message_of<Error>(
                  [] { static_cast<void>(parse_run_log(line("1.0", 7, R"("event":"run","version":2)"))); }),
              HasSubstr("it is a log of version 2, and this gputest reads version 1"));
  EXPECT_THAT(tests::message_of<Error>([] { static_cast<void>(parse_run_log(line("1.0", 7, R"("event":"run")"))); }),
              HasSubstr("version none"));
}

} // namespace
} // namespace gputest::insights
