// SPDX-License-Identifier: BSD-3-Clause
#include "support/tool.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gputest::tool {

/// Two ctests that know nothing of each other, each with more tests at a time than the device has room for.
TEST(TwoRuns, of_ctest_share_the_device_without_exceeding_it) {
  tests::Tool tool;
  tool.set("GPUTEST_RUN_MODE", "parallel");
  // Each test holds most of the device, so that no other may be at work at the same time: then the folder would be
  // there.
  const std::string inside = tool.folder().path() + "/inside";
  std::string tests;
  for (const char* const name : {"a", "b", "c", "d", "e", "f"}) {
    tests += std::string{"add_test("} + name + " [[" + tests::Tool::path() +
             "]] run --memory 12GiB -- sh -c [[mkdir '" + inside + "' && echo had it && rmdir '" + inside + "']])\n";
  }
  tool.folder().write("CTestTestfile.cmake", tests, 0644);
  const auto start = [&] {
    return tool.start_program({GPUTEST_CTEST, "-V", "-j6", "--test-dir", tool.folder().path()});
  };
  std::vector<tests::ChildProcess> runs;
  runs.push_back(start());
  runs.push_back(start());
  for (auto& run : runs) {
    const auto ended = run.finish();
    EXPECT_EQ(ended.exit_code, 0) << ended.out;
    EXPECT_NE(ended.out.find("100% tests passed"), std::string::npos) << ended.out;
  }
  EXPECT_EQ(tool.run({"status"}).out.find("no processes on the ledger\n"), 0U);
}

} // namespace gputest::tool
