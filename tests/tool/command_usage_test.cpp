// SPDX-License-Identifier: BSD-3-Clause
// What `gputest run` makes of the memory that its command takes, with all that the command starts.
#include "support/tool.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

namespace gputest::tool {
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

  /// It has memory for longer than it takes until the devices are asked; then the shell runs `end`.
  static std::vector<std::string> takes_too_much(const std::string& end) {
    return {takes, "1000", "sh", "-c", "sleep 1; " + end};
  }

  static std::string measurement(const std::string& mib) {
    return "<CTestMeasurement type=\"numeric/double\" name=\"gputest_peak_mib\">" + mib + "</CTestMeasurement>";
  }

  tests::Tool tool_;
};

TEST_F(CommandUsage, fails_a_command_that_takes_more_than_its_lease_in_processes_of_its_own) {
  const auto ended = run({takes, "900", takes, "900", "sleep", "1"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.err.find("gputest: failed: script took at least 1.26 GiB"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("256 MiB"), std::string::npos) << ended.err;
  EXPECT_EQ(ended.err.find("GPUTEST_NEEDS"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("MEMORY "), std::string::npos) << ended.err;
  EXPECT_NE(ended.out.find(measurement("1288.000")), std::string::npos) << ended.out;
}

TEST_F(CommandUsage, has_room_for_what_each_further_context_grows_by) {
  const auto ended = tool_.run({"run", "--memory", "1GiB", "--", takes, "900", takes, "900", "sleep", "1"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

TEST_F(CommandUsage, only_prints_it_where_a_setting_says_so) {
  tool_.set("GPUTEST_OVERUSE", "warn");
  const auto ended = run(takes_too_much("true"));
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_NE(ended.err.find("gputest: script took at least "), std::string::npos) << ended.err;
}

TEST_F(CommandUsage, beyond_an_estimate_is_only_printed) {
  auto command = takes_too_much("true");
  command.insert(command.begin(), {"run", "--"});
  const auto ended = tool_.run(command);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_NE(ended.err.find("gputest: script took at least "), std::string::npos) << ended.err;
}

TEST_F(CommandUsage, is_what_needs_says_of_the_entry) {
  const auto logs = tool_.folder().path() + "/logs";
  tool_.set("GPUTEST_LOG", logs);
  EXPECT_EQ(tool_.run({"run", "--", "true"}).exit_code, 0);
  EXPECT_NE(tool_.run({"needs", "--log", logs}).exit_code, 0) << "no look has shown anything of it";
  auto command = takes_too_much("true");
  command.insert(command.begin(), {"run", "--"});
  EXPECT_EQ(tool_.run(command).exit_code, 0);
  const auto needs = tool_.run({"needs", "--log", logs});
  EXPECT_NE(needs.out.find("\nscript "), std::string::npos) << needs.out << needs.err;
  EXPECT_NE(needs.out.find("1 entry measured"), std::string::npos) << needs.out;
}

TEST_F(CommandUsage, is_what_a_lease_needs_with_all_contexts_but_one) {
  const auto logs = tool_.folder().path() + "/logs";
  tool_.set("GPUTEST_LOG", logs);
  EXPECT_EQ(tool_.run({"run", "--", takes, "900", takes, "900", "sleep", "1"}).exit_code, 0);
  const auto needs = tool_.run({"needs", "--log", logs, "--json"});
  EXPECT_NE(needs.out.find(std::to_string((2ULL * 900 + 512) << 20U)), std::string::npos) << needs.out << needs.err;
}

TEST_F(CommandUsage, does_not_satisfy_an_expected_failure) {
  tool_.set("GPUTEST_ENTRY", "will_fail");
  EXPECT_EQ(run(takes_too_much("true")).signal, SIGKILL);
}

TEST_F(CommandUsage, keeps_the_exit_code_of_a_command_that_has_failed) {
  EXPECT_EQ(run(takes_too_much("exit 3")).exit_code, 3);
}

TEST_F(CommandUsage, is_a_failure_also_of_a_command_that_gputest_has_skipped) {
  const auto ended = run(takes_too_much(tests::Tool::path() + " run --requires tcc -- true"));
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  EXPECT_NE(ended.err.find("gputest: failed: script took at least "), std::string::npos) << ended.err;
}

TEST_F(CommandUsage, that_no_look_has_shown_is_not_known_of_gpus_and_of_devices_without_a_list) {
  const std::string not_known = "gputest: how much memory the command used is not known: ";
  const auto message_on = [&](const std::string& devices) {
    tool_.set("GPUTEST_DEVICES", devices);
    const auto ended = run({"true"});
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_EQ(ended.out.find("gputest_peak_mib"), std::string::npos) << ended.out;
    const auto begin = ended.err.find(not_known);
    return begin == std::string::npos
               ? ""
               : ended.err.substr(begin + not_known.size(), ended.err.find('\n', begin) - begin - not_known.size());
  };
  EXPECT_EQ(message_on("simulated:1x16GiB"), "");
  EXPECT_EQ(message_on("simulated:1x16GiB,no_process_list"), "the devices list no processes");
  tool_.set("LD_LIBRARY_PATH", GPUTEST_FAKE_DRIVER);
  tool_.set("FAKE_NVML", "gpus=1");
  EXPECT_EQ(message_on("all"), "the devices were asked ten times a second, and showed none");
}

TEST_F(CommandUsage, is_not_measured_where_the_meter_is_off) {
  tool_.set("GPUTEST_METER", "off");
  const auto ended = run(takes_too_much("true"));
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out.find("CTestMeasurement"), std::string::npos) << ended.out;
}

} // namespace
} // namespace gputest::tool
