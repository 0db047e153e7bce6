// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/environment.hpp"

#include "support/in_child.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

namespace gputest::os {
namespace {

using tests::in_child;

TEST(Environment, tells_what_is_empty_from_what_is_not_set) {
  EXPECT_EQ(in_child([] {
              set_variable("ENVIRONMENT_TEST", "a=b");
              EXPECT_EQ(read_variable("ENVIRONMENT_TEST"), "a=b");
              set_variable("ENVIRONMENT_TEST", "");
              EXPECT_EQ(read_variable("ENVIRONMENT_TEST"), "");
              remove_variable("ENVIRONMENT_TEST");
              EXPECT_EQ(read_variable("ENVIRONMENT_TEST"), std::nullopt);
              return ::testing::Test::HasFailure() ? 1 : 0;
            }),
            0);
}

TEST(Environment, gives_the_names_of_all_that_begin_with_a_prefix_in_their_order) {
  EXPECT_EQ(in_child([] {
              ::clearenv();
              EXPECT_TRUE(variables_with("GPUTEST_").empty());
              // NOLINTNEXTLINE(cppcoreguidelines-avoid-c-arrays, modernize-avoid-c-arrays): putenv() keeps what it gets
              static char variables[][24] = {
                  "OTHER=GPUTEST_A", "GPUTEST_B=1=2", "GPUTEST_=", "GPUTEST=1", "A_GPUTEST_C=1", "GPUTEST_A=GPUTEST_B"};
              for (char* const variable : variables) {
                ::putenv(variable);
              }
              EXPECT_EQ(variables_with("GPUTEST_"), (std::vector<std::string>{"GPUTEST_B", "GPUTEST_", "GPUTEST_A"}));
              EXPECT_EQ(variables_with("").size(), 6U);
              return ::testing::Test::HasFailure() ? 1 : 0;
            }),
            0);
}

} // namespace
} // namespace gputest::os
