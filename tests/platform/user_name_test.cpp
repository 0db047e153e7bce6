// SPDX-License-Identifier: BSD-3-Clause
#include "platform/user_name.hpp"

#include <gtest/gtest.h>

namespace gputest::platform {

TEST(UserName, names_root) { EXPECT_EQ(user_name(0), "root"); }

TEST(UserName, gives_the_number_of_a_user_that_this_machine_does_not_know) {
  EXPECT_EQ(user_name(4'000'000'123U), "4000000123");
}

} // namespace gputest::platform
