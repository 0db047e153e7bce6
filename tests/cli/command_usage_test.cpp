// SPDX-License-Identifier: BSD-3-Clause
// What `gputest run` makes of the memory that its command takes, with all that the command starts.
#include "tool.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

namespace gputest::cli {
namespace {

const std::string takes = GPUTEST_TAKES_MEMORY;

class CommandUsage : public ::testing::Test {
protected:
  CommandUsage() {
    tool_.set("GPUTEST_ENTRY", "ctest");
    tool_.set("GPUTEST_TEST", "script");
  }

  [[nodiscard]] tests::Ended run(const std::vector<std::string>& command) const {
    std::vector<std::string> arguments{"run", "--memory", "256MiB", "--"};
    arguments.insert(arguments.end(), command.begin(), command.end());
    return tool_.run(arguments);
  }

  static std::string measurement(const std::string& mib) {
    return "<CTestMeasurement type=\"numeric/double\" name=\"gputest_peak_mib\">" + mib + "</CTestMeasurement>";
  }

  Tool tool_;
};

TEST_F(CommandUsage, fails_what_takes_more_than_its_lease_in_processes_of_its_own) {
  const auto ended = run({takes, "200", takes, "150"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.err.find("gputest: failed: script took 350 MiB"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("256 MiB"), std::string::npos) << ended.err;
  EXPECT_NE(ended.out.find(measurement("350.000")), std::string::npos) << ended.out;
}

TEST_F(CommandUsage, does_not_add_what_processes_take_one_after_another) {
  const auto ended = run({"sh", "-c", takes + " 200; " + takes + " 150"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_NE(ended.out.find(measurement("200.000")), std::string::npos) << ended.out;
}

TEST_F(CommandUsage, does_not_count_a_killed_process_any_more) {
  const auto ended = run({"sh", "-c", takes + " 200 sh -c 'kill -9 $PPID'; " + takes + " 150"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_NE(ended.out.find(measurement("200.000")), std::string::npos) << ended.out;
}

TEST_F(CommandUsage, does_not_count_what_a_process_had_before_it_became_another_program) {
  const auto ended = run({takes, "200", "exec", takes, "150"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_NE(ended.out.find(measurement("200.000")), std::string::npos) << ended.out;
}

TEST_F(CommandUsage, counts_what_a_process_takes_after_it_became_another_program) {
  const auto ended = run({takes, "100", "exec", takes, "150"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_NE(ended.out.find(measurement("150.000")), std::string::npos) << ended.out;
}

TEST_F(CommandUsage, says_the_line_to_write_for_a_command) {
  const auto ended = run({takes, "300"});
  EXPECT_EQ(ended.err.find("GPUTEST_NEEDS"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("MEMORY 300MiB in gpu_add_test()"), std::string::npos) << ended.err;
}

TEST_F(CommandUsage, is_sampled_where_a_setting_says_so) {
  tool_.set("GPUTEST_METER", "sampled");
  const auto ended = run({"sh", "-c", takes + " 2000 sleep 1"});
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  EXPECT_NE(ended.err.find("script took at least "), std::string::npos) << ended.err;
  EXPECT_NE(ended.out.find("gputest_peak_mib"), std::string::npos) << ended.out;
}

TEST_F(CommandUsage, that_is_sampled_has_room_for_what_each_further_context_grows_by) {
  tool_.set("GPUTEST_METER", "sampled");
  const auto ended = tool_.run({"run", "--memory", "1GiB", "--", takes, "900", takes, "900", "sleep", "1"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

TEST_F(CommandUsage, only_prints_it_where_a_setting_says_so) {
  tool_.set("GPUTEST_OVERUSE", "warn");
  const auto ended = run({takes, "300"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_NE(ended.err.find("gputest: script took 300 MiB"), std::string::npos) << ended.err;
}

TEST_F(CommandUsage, does_not_satisfy_an_expected_failure) {
  tool_.set("GPUTEST_ENTRY", "will_fail");
  EXPECT_EQ(run({takes, "300"}).signal, SIGKILL);
}

TEST_F(CommandUsage, keeps_the_exit_code_of_a_command_that_has_failed) {
  EXPECT_EQ(run({takes, "300", "sh", "-c", "exit 3"}).exit_code, 3);
}

TEST_F(CommandUsage, is_a_failure_also_of_a_command_that_gputest_has_skipped) {
  const auto ended = run({takes, "300", Tool::path(), "run", "--requires", "tcc", "--", "true"});
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  EXPECT_NE(ended.err.find("gputest: failed: script took 300 MiB"), std::string::npos) << ended.err;
}

TEST_F(CommandUsage, of_a_command_that_gputest_has_skipped_is_not_told_to_be_complete) {
  const auto ended = run({Tool::path(), "run", "--requires", "tcc", "--", "true"});
  EXPECT_EQ(ended.exit_code, 77) << ended.err;
  EXPECT_EQ((ended.out + ended.err).find("gputest: entry complete"), std::string::npos) << ended.err;
}

TEST_F(CommandUsage, is_not_exact_if_a_process_that_has_ended_was_not_metered) {
  const auto ended = run({"sh", "-c", takes + " 50; env -u GPUTEST_METER_FILE " + takes + " 100 sleep 1"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.out.find(measurement("50.000")), std::string::npos) << ended.out;
}

TEST_F(CommandUsage, of_nothing_is_a_measurement_if_it_is_exact) {
  const auto ended = run({takes, "0"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_NE(ended.out.find(measurement("0.000")), std::string::npos) << ended.out << ended.err;
}

TEST_F(CommandUsage, that_is_not_known_is_no_measurement) {
  const auto ended = run({"true"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out.find("CTestMeasurement"), std::string::npos) << ended.out;
  EXPECT_NE(ended.err.find("gputest: how much memory the command used is not known: no process of the command was "
                           "metered"),
            std::string::npos)
      << ended.err;
}

TEST_F(CommandUsage, is_not_measured_where_the_meter_is_off) {
  tool_.set("GPUTEST_METER", "off");
  const auto ended = run({takes, "300"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out.find("CTestMeasurement"), std::string::npos) << ended.out;
}

} // namespace
} // namespace gputest::cli
