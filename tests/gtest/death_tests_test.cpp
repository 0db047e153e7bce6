// SPDX-License-Identifier: BSD-3-Clause
#include "support/suite_test.hpp"

#include <gmock/gmock.h>

namespace gputest::tests {
namespace {

using policy::Stage;

/// By the style of GoogleTest's death tests: `fast` forks, `threadsafe` starts the executable again.
class DeathTests : public SuiteTest, public testing::WithParamInterface<std::string> {
protected:
  [[nodiscard]] std::vector<std::string> arguments(const std::string& filter) const {
    return {"--gtest_filter=" + filter, "--gtest_death_test_style=" + GetParam()};
  }
};

TEST_P(DeathTests, pass_and_leave_their_parents_lease_alone) {
  for (const std::string suite : {"Small", "Medium", "Shared", "Scoped"}) {
    auto process = start("deaths", arguments(suite + ".dies"));
    process.wait_for_out("@body");
    EXPECT_EQ(claim_of(process).stage, Stage::holding) << suite;
    EXPECT_EQ(claim_of(process).medium_lock, suite == "Medium");
    EXPECT_EQ(entries().size(), 1U) << "no child has a place of its own";
    const Ended ended = process.finish();
    EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  }
}

TEST_P(DeathTests, leave_their_parents_memory_alone_and_say_nothing_of_the_child) {
  const Ended ended = run("deaths", arguments("Allocating.dies"));
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_EQ(count(ended.err, "gputest: "), 2U) << ended.err; // simulated, admitted
}

INSTANTIATE_TEST_SUITE_P(Styles, DeathTests, testing::Values("fast", "threadsafe"),
                         [](const auto& test) { return test.param; });

} // namespace
} // namespace gputest::tests
