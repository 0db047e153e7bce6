// SPDX-License-Identifier: BSD-3-Clause
#include "support/run_tests.hpp"

#include <gtest/gtest.h>

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  return gputest::tests::run_tests();
}
