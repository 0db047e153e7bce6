// SPDX-License-Identifier: BSD-3-Clause
#include "core/settings/settings_table.hpp"
#include "support/tool.hpp"
#include "tool/exit_codes.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace gputest::tool {

TEST(Help, of_the_tool_and_of_run_mentions_every_setting) {
  const tests::Tool tool;
  const auto of_tool = tool.run({"--help"});
  const auto of_run = tool.run({"run", "--help"});
  EXPECT_NE(of_tool.out.find(settings::settings_reference()), std::string::npos);
  EXPECT_NE(of_run.out.find(settings::settings_reference()), std::string::npos);
}

TEST(Help, goes_to_stdout_and_is_a_success) {
  const tests::Tool tool;
  for (const auto& arguments : std::vector<std::vector<std::string>>{{"--help"},
                                                                     {"-h"},
                                                                     {"run", "--help"},
                                                                     {"devices", "--help"},
                                                                     {"status", "--help"},
                                                                     {"plan", "--help"},
                                                                     {"report", "--help"},
                                                                     {"classify", "--help"},
                                                                     {"isolate", "-h"}}) {
    const auto ended = tool.run(arguments);
    EXPECT_EQ(ended.exit_code, 0);
    EXPECT_EQ(ended.err, "");
    EXPECT_NE(ended.out.find("Exit codes:"), std::string::npos) << ended.out;
  }
}

TEST(Help, of_run_names_every_exit_code) {
  const auto help = tests::Tool{}.run({"run", "--help"}).out;
  for (const auto code :
       {ExitCode::done, ExitCode::wrong_command_line, ExitCode::no_gpu, ExitCode::internal_error, ExitCode::wait_limit,
        ExitCode::skipped, ExitCode::unusable_setting, ExitCode::cannot_execute, ExitCode::not_found}) {
    EXPECT_NE(help.find("  " + std::to_string(to_int(code)) + "  "), std::string::npos) << to_int(code);
  }
}

TEST(Help, names_the_exit_codes_of_each_command_and_no_others) {
  const tests::Tool tool;
  const auto codes_of = [&](const std::string& command) {
    std::istringstream help{tool.run({command, "--help"}).out};
    std::vector<int> codes;
    bool begun = false;
    for (std::string line; std::getline(help, line);) {
      begun = begun || line == "Exit codes:";
      if (begun && line.find_first_of("0123456789") < 5) {
        codes.push_back(std::stoi(line));
      }
    }
    return codes;
  };
  using Codes = std::vector<int>;
  EXPECT_EQ(codes_of("run"), (Codes{0, 64, 69, 70, 75, 77, 78, 126, 127}));
  EXPECT_EQ(codes_of("devices"), (Codes{0, 64, 69, 70, 78}));
  for (const char* const command : {"status", "plan", "report"}) {
    EXPECT_EQ(codes_of(command), (Codes{0, 64, 70, 78})) << command;
  }
  for (const char* const command : {"classify", "isolate"}) {
    EXPECT_EQ(codes_of(command), (Codes{0, 64, 70, 78, 1})) << command;
  }
}

TEST(Help, has_the_usage_of_each_command_and_texts_with_their_own_lines) {
  const tests::Tool tool;
  const auto help = [&](const std::string& command) { return tool.run({command, "--help"}).out; };
  EXPECT_NE(help("run").find("Usage: gputest run [OPTIONS] [--] COMMAND [ARGUMENT...]\n"), std::string::npos);
  EXPECT_NE(help("plan").find("Usage: gputest plan [OPTIONS] [-- CTEST_OPTION...]\n"), std::string::npos);
  EXPECT_NE(help("isolate").find("Usage: gputest isolate [OPTIONS] [-- CTEST_OPTION...]\n"), std::string::npos);
  EXPECT_NE(help("status").find("\n  lease               holds memory for a test\n"), std::string::npos);
  for (const char* const command : {"run", "devices", "plan"}) {
    EXPECT_EQ(help(command).find("\n\n\n"), std::string::npos) << "two empty lines: " << help(command);
  }
  const auto end = help("devices");
  EXPECT_EQ(end.substr(end.size() - 3, 2), "d\n") << "one end of line, and no empty one: " << end;
}

TEST(Help, has_a_version) {
  const auto ended = tests::Tool{}.run({"--version"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out, "gputest " GPUTEST_VERSION "\n");
}

} // namespace gputest::tool
