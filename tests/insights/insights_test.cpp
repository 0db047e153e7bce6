// SPDX-License-Identifier: BSD-3-Clause
#include "support/tool.hpp"
#include "tool/exit_codes.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace gputest::insights {

TEST(Insights, are_a_program_beside_the_tool_which_says_where_it_looks) {
  const tests::Tool tool;
  const auto folder = tool.folder().path() + "/bin";
  std::filesystem::create_directory(folder);
  std::filesystem::copy_file(tests::Tool::path(), folder + "/gputest");
  for (const std::string command : {"plan", "slurm", "report", "merge"}) {
    const auto run = [&] { return tool.start_program({folder + "/gputest", command, "--json", "a b"}).finish(); };
    const auto alone = run();
    EXPECT_EQ(alone.exit_code, tool::to_int(tool::ExitCode::not_found));
    EXPECT_NE(alone.err.find("'gputest " + command + "' is done by the program gputest-insights"), std::string::npos)
        << alone.err;
    EXPECT_NE(alone.err.find("-DGPUTEST_BUILD_INSIGHTS=ON"), std::string::npos) << alone.err;

    const auto program = folder + "/gputest-insights";
    std::ofstream{program} << "#!/bin/sh\nfor word; do echo \"<$word>\"; done\nexit 3\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    const auto with = run();
    EXPECT_EQ(with.out, "<" + command + ">\n<--json>\n<a b>\n");
    EXPECT_EQ(with.exit_code, 3);
    std::filesystem::remove(program);
  }
  EXPECT_EQ(tool.start_program({folder + "/gputest", "devices"}).finish().exit_code, 0);
  EXPECT_EQ(tool.start_program({folder + "/gputest", "devices", "plan"}).finish().exit_code,
            tool::to_int(tool::ExitCode::wrong_command_line));
}

} // namespace gputest::insights
