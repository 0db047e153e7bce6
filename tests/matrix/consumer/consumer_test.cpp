// SPDX-License-Identifier: BSD-3-Clause
#ifdef WITH_GPUTEST
#include <gputest/gputest.hpp>
#endif

#include <gtest/gtest.h>

#ifdef WITH_GPUTEST
class Sort : public gputest::MediumTest {};
GPUTEST_NEEDS(Sort, has_room_for_its_keys, 3_GiB);
#else
class Sort : public testing::Test {};
#endif

TEST_F(Sort, has_room_for_its_keys) {
#ifdef WITH_GPUTEST
  EXPECT_EQ(gputest::current_devices().size(), 1U);
#endif
}
