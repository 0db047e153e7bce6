// SPDX-License-Identifier: BSD-3-Clause
// A main() of one's own, with the one call or with what that installs.

#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

#include <cstdlib>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (std::getenv("BY_HAND") == nullptr) {
    return gputest::run_all_tests();
  }
  testing::AddGlobalTestEnvironment(new gputest::Environment);
  testing::UnitTest::GetInstance()->listeners().Append(new gputest::Listener);
  return RUN_ALL_TESTS();
}
