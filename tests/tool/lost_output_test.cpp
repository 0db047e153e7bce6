// SPDX-License-Identifier: BSD-3-Clause
#include "support/tool.hpp"
#include "tool/exit_codes.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace gputest::tool {

/// A part of a list of tests would be run as if it were the whole list.
TEST(LostOutput, is_a_failure_of_every_command_that_prints) {
  const tests::Tool tool;
  const auto& folder = tool.folder().path();
  std::filesystem::create_directories(folder + "/Testing/gputest");
  std::ofstream{folder + "/CTestTestfile.cmake"} << "add_test(a true)\nadd_test(b true)\n";
  std::ofstream{folder + "/Testing/gputest/run.jsonl"}
      << R"({"t":1,"pid":1,"entry":"a","event":"run","version":1})" << '\n'
      << R"({"t":2,"pid":1,"entry":"a","test":"A.b","event":"lease","bytes":1,"devices":["GPU-1"]})" << '\n'
      << R"({"t":3,"pid":1,"entry":"a","event":"need","bytes":1,"evidence":"exact","device_bytes":1,"simulated":true,)"
      << R"("declared_by":"test"})" << '\n';
  for (const std::string command :
       {"plan --shards 2", "plan --shards 2 --shard 1", "plan --shards 2 --shard 1 --numbers", "needs",
        "needs --json", "report --output page.html"}) {
    SCOPED_TRACE(command);
    const auto into = [&](const std::string& file) {
      return tool
          .start_program(
              {"/bin/sh", "-c",
               "cd '" + folder + "'; exec '" + tests::Tool::path() + "' " + command + " --test-dir . >" + file})
          .finish();
    };
    EXPECT_EQ(into("/dev/null").exit_code, 0);
    const auto lost = into("/dev/full");
    EXPECT_EQ(lost.exit_code, to_int(ExitCode::internal_error));
    EXPECT_THAT(lost.err, testing::HasSubstr("could not be written to standard output"));
  }
  for (const std::string command : {"devices", "devices --json", "status", "--help", "--version"}) {
    auto lost = tool.start_program({"/bin/sh", "-c", "exec '" + tests::Tool::path() + "' " + command + " >/dev/full"});
    EXPECT_EQ(lost.finish().exit_code, to_int(ExitCode::internal_error)) << command;
  }
}

} // namespace gputest::tool
