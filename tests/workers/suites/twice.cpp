// SPDX-License-Identifier: BSD-3-Clause
// Its main() runs its tests twice, and they fail the second time.

#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

namespace {

int runs = 0; // NOLINT: of the tests

TEST(Twice, fails_the_second_time) { EXPECT_EQ(runs, 1); }

} // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  ++runs;
  const int first = gputest::run_all_tests();
  ++runs;
  const int second = gputest::run_all_tests();
  return first != 0 ? first : second;
}
