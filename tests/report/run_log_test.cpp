// SPDX-License-Identifier: BSD-3-Clause
#include "report/run_log.hpp"

#include "support/message_of.hpp"

#include <gputest/error.hpp>

#include <gmock/gmock.h>

#include <string>

namespace gputest::report {
namespace {

using testing::ElementsAre;
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

TEST(RunLogs, are_read_as_processes_and_leases) {
  const auto log = parse_run_log(run + enter + lease + release + end);
  EXPECT_EQ(log.jobs, 4U);
  EXPECT_EQ(log.begun, 100);
  EXPECT_EQ(log.ended, 105);
  ASSERT_THAT(log.devices, SizeIs(1));
  ASSERT_THAT(log.processes, SizeIs(1));
  EXPECT_EQ(log.processes[0].asked, 100.5);
  EXPECT_EQ(log.processes[0].ended, 105);
  EXPECT_EQ(log.processes[0].exit, 0);
  ASSERT_THAT(log.leases, SizeIs(1));
  EXPECT_EQ(log.leases[0].asked, 101.5);
  EXPECT_EQ(log.leases[0].ended, 104);
  EXPECT_FALSE(log.leases[0].open_ended);
  EXPECT_EQ(log.leases[0].evidence, "exact");
  EXPECT_EQ(log.leases[0].uses.at(0).peak_bytes, 200U);
}

TEST(RunLogs, begin_and_end_with_their_first_and_last_time_in_whatever_order_they_were_written) {
  const auto log = parse_run_log(enter + lease + end + release + run);
  EXPECT_EQ(log.begun, 100);
  EXPECT_EQ(log.ended, 105);
}

TEST(RunLogs, have_no_use_of_a_lease_of_which_nothing_is_known) {
  const auto unknown = line("104.0", 7,
                            R"("test":"Sort.Keys","event":"release","held":1.0,"evidence":"unknown",)"
                            R"("devices":[{"uuid":"GPU-1","peak_bytes":0}])");
  EXPECT_TRUE(parse_run_log(run + enter + lease + unknown).leases.at(0).uses.empty());
}

TEST(RunLogs, say_of_a_command_that_a_signal_has_ended_what_a_shell_says) {
  const auto log = parse_run_log(run + enter + line("105.0", 7, R"("event":"end","signal":9)"));
  EXPECT_EQ(log.processes.at(0).exit, 137);
}

TEST(RunLogs, know_the_program_of_a_lease_and_what_it_could_have) {
  const auto entered =
      line("101.0", 7,
           R"("event":"enter","devices":[{"uuid":"GPU-1","bytes":1000,"usable_bytes":900}],"overhead_bytes":5,)"
           R"("program":"/bin/sort","program_bytes":3,"program_modified":1700000000000000001,"scheduled":true)");
  const auto log = parse_run_log(run + entered + lease);
  EXPECT_EQ(log.leases.at(0).program.path, "/bin/sort");
  EXPECT_EQ(log.leases.at(0).program.bytes, 3U);
  EXPECT_EQ(log.leases.at(0).program.modified, 1700000000000000001U);
  EXPECT_EQ(log.leases.at(0).overhead_bytes, 5U);
  EXPECT_EQ(log.devices.at(0).usable_bytes, 900U);
  EXPECT_TRUE(log.scheduled);
  EXPECT_FALSE(parse_run_log(run + enter).scheduled);
}

TEST(RunLogs, are_of_a_ctest_that_knows_the_memory_if_it_has_scheduled_any_process) {
  const auto scheduled = line("101.0", 7, R"("event":"enter","devices":[],"waited":0,"scheduled":true)");
  const auto other = line("102.0", 8, R"("event":"enter","devices":[],"waited":0)");
  EXPECT_TRUE(parse_run_log(run + scheduled + other).scheduled);
  EXPECT_TRUE(parse_run_log(run + other + scheduled).scheduled);
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
      R"("test":"Sort.Keys","event":"wait","what":"3 GiB","blockers":[{"who":"join"},{"who":"join"},{"who":"fft"}],"external":true)");
  const auto log = parse_run_log(run + enter + wait + lease);
  ASSERT_THAT(log.waits, SizeIs(1));
  EXPECT_EQ(log.waits[0].waited, 1.5);
  EXPECT_THAT(log.waits[0].blockers, ElementsAre("join", "fft"));
  EXPECT_TRUE(log.waits[0].external);
}

TEST(RunLogs, leave_out_what_they_do_not_know) {
  const auto log =
      parse_run_log(run + line("101.0", 7, R"("event":"new","x":[{}])") +
                    line("102.0", 7, R"("event":"lease","bytes":"many","devices":3,"waited":null)") + enter);
  EXPECT_EQ(log.unreadable_lines, 0U);
  EXPECT_EQ(log.leases.at(0).bytes, 0U);
  EXPECT_THAT(log.processes, SizeIs(1));
}

TEST(RunLogs, count_lines_that_a_kill_has_cut) {
  const auto log = parse_run_log(run + lease.substr(0, 40) + "\n\n" + enter + end.substr(0, end.size() - 3));
  EXPECT_EQ(log.unreadable_lines, 2U);
  EXPECT_EQ(log.events, 2U);
}

TEST(RunLogs, of_another_version_are_refused) {
  EXPECT_THAT(tests::message_of<Error>(
                  [] { static_cast<void>(parse_run_log(line("1.0", 7, R"("event":"run","version":2)"))); }),
              HasSubstr("this log has version 2, and version 1 is read"));
  EXPECT_THAT(tests::message_of<Error>([] { static_cast<void>(parse_run_log(line("1.0", 7, R"("event":"run")"))); }),
              HasSubstr("version none"));
}

} // namespace
} // namespace gputest::report
