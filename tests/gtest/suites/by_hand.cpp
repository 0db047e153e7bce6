// SPDX-License-Identifier: BSD-3-Clause
// A main() that cannot call run_all_tests().

#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::AddGlobalTestEnvironment(new gputest::Environment);
  testing::UnitTest::GetInstance()->listeners().Append(new gputest::Listener);
  return RUN_ALL_TESTS();
}
