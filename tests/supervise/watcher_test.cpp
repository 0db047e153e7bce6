// SPDX-License-Identifier: BSD-3-Clause
#include "support/ctest_run.hpp"

#include <gmock/gmock.h>

#include <unistd.h>

namespace gputest::tests {
namespace {

using testing::HasSubstr;

class Watcher : public ::testing::Test, public CTestRun {};

TEST_F(Watcher, judges_an_entry_of_ctest_also_if_a_debugger_holds_it) {
  add_command("traced", {TRACER, ENTRY_PROGRAM, "--watch", "/bin/true"}, "ENVIRONMENT GPUTEST_ENTRY=ctest");
  const auto result = run().at("traced");
  EXPECT_EQ(result.word, "Failed");
  EXPECT_THAT(result.output, HasSubstr("gputest did not run its tests"));
}

TEST_F(Watcher, believes_a_command_that_becomes_another_user_before_its_tests) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can be two users";
  }
  add_command("nobody", {"/bin/sh", "-c",
                         "GPUTEST_ENTRY=ctest GPUTEST_TEST=nobody exec '" ENTRY_PROGRAM
                         "' --watch /usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups '" CASES
                         "' --gtest_filter=Host.a"});
  const auto result = run().at("nobody");
  EXPECT_EQ(result.word, "Passed") << result.output;
}

} // namespace
} // namespace gputest::tests
