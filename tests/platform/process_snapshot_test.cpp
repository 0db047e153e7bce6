// SPDX-License-Identifier: BSD-3-Clause
#include "platform/process_snapshot.hpp"

#include <gtest/gtest.h>

namespace gputest::platform {
namespace {

TEST(ProcessSnapshots, differ_by_a_thread_more_and_by_one_less) {
  ProcessSnapshot two;
  two.threads = 2;
  ProcessSnapshot three;
  three.threads = 3;
  EXPECT_EQ(change_between(two, two, {}), "");
  EXPECT_EQ(change_between(two, three, {}), "3 threads run, and 2 ran before it");
  EXPECT_EQ(change_between(three, two, {}), "2 threads run, and 3 ran before it");
}

} // namespace
} // namespace gputest::platform
