// SPDX-License-Identifier: BSD-3-Clause
// How often NVML is opened, by the launcher and by what it starts. Runs them on the fake driver of tests/support.
#include "support/suite_test.hpp"
#include "support/tool.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

namespace gputest::tool {
namespace {

class NvmlOnce : public tests::SuiteTest {
protected:
  NvmlOnce() {
    set("GPUTEST_DEVICES", "all");
    set("LD_LIBRARY_PATH", GPUTEST_FAKE_DRIVER);
    set("FAKE_NVML", "gpus=3 log=" + log());
  }

  [[nodiscard]] std::string log() const { return folder() + "/nvml.log"; }

  [[nodiscard]] int openings() const {
    std::ifstream file{log()};
    int lines = 0;
    for (std::string line; std::getline(file, line);) {
      ++lines;
    }
    return lines;
  }

  /// Runs a linked executable by the launcher, through these words of a shell's.
  [[nodiscard]] tests::Ended run_launched(const std::string& suite, const std::string& filter,
                                          const std::string& before = "") const {
    return start_program({tests::Tool::path(), "run", "--gpus", "2", "--", "sh", "-c",
                          before + " exec '" + path_of(suite) + "' '--gtest_filter=" + filter + "'"})
        .finish();
  }
};

TEST_F(NvmlOnce, is_opened_by_the_launcher_and_not_again_by_what_runs_under_its_lease) {
  const auto ended = run_launched("outcomes", "Passing.*");
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_EQ(openings(), 1);
}

TEST_F(NvmlOnce, is_opened_by_an_executable_that_nobody_launched) {
  const auto ended = run("outcomes", {"--gtest_filter=Passing.*"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_EQ(openings(), 1);
}

TEST_F(NvmlOnce, is_opened_again_where_a_capability_is_asked_for) {
  const auto ended = run_launched("requiring", "Parameterised.*:*needs_tcc*");
  EXPECT_EQ(ended.exit_code, 77) << ended.out << ended.err;
  EXPECT_NE(ended.out.find("requires what its devices do not have: asked tcc"), std::string::npos) << ended.out;
  EXPECT_EQ(openings(), 2);
}

TEST_F(NvmlOnce, is_opened_again_where_devices_are_named_by_their_number) {
  const auto ended = run_launched("outcomes", "Passing.*", "CUDA_VISIBLE_DEVICES=0");
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_EQ(openings(), 2) << "the number is one of the machine's";
}

TEST_F(NvmlOnce, is_opened_where_the_lease_is_nobodys) {
  set("GPUTEST_LEASE_OF", "5:5");
  const auto ended = run("outcomes", {"--gtest_filter=Passing.*"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_EQ(openings(), 1);
}

} // namespace
} // namespace gputest::tool
