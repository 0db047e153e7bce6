// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/gtest/run_all_tests.hpp>

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  return gputest::run_all_tests();
}
