// SPDX-License-Identifier: BSD-3-Clause
#include "cli/exit_codes.hpp"
#include "settings/variable_names.hpp"
#include "tool.hpp"

#include <gtest/gtest.h>

namespace gputest::cli {

TEST(Help, of_the_tool_and_of_run_mentions_every_setting) {
  const Tool tool;
  const auto of_tool = tool.run({"--help"});
  const auto of_run = tool.run({"run", "--help"});
  ASSERT_GE(settings::names_of_settings().size(), 10U);
  for (const auto& name : settings::names_of_settings()) {
    EXPECT_NE(of_tool.out.find(name), std::string::npos) << name;
    EXPECT_NE(of_run.out.find(name), std::string::npos) << name;
  }
}

TEST(Help, goes_to_stdout_and_is_a_success) {
  const Tool tool;
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"--help"}, {"-h"}, {"run", "--help"}, {"devices", "--help"}, {"status", "--help"}}) {
    const auto ended = tool.run(arguments);
    EXPECT_EQ(ended.exit_code, 0);
    EXPECT_EQ(ended.err, "");
    EXPECT_NE(ended.out.find("Exit codes:"), std::string::npos) << ended.out;
  }
}

TEST(Help, of_run_names_every_exit_code) {
  const auto help = Tool{}.run({"run", "--help"}).out;
  for (const auto code :
       {ExitCode::done, ExitCode::wrong_command_line, ExitCode::no_gpu, ExitCode::internal_error, ExitCode::wait_limit,
        ExitCode::skipped, ExitCode::unusable_setting, ExitCode::cannot_execute, ExitCode::not_found}) {
    EXPECT_NE(help.find("  " + std::to_string(to_int(code)) + "  "), std::string::npos) << to_int(code);
  }
}

TEST(Help, has_a_version) {
  const auto ended = Tool{}.run({"--version"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out, "gputest " GPUTEST_VERSION "\n");
}

} // namespace gputest::cli
