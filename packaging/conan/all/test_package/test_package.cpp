// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

class Package : public gputest::MediumTest {};
GPUTEST_NEEDS(Package, holds_a_lease, 3_GiB);
TEST_F(Package, holds_a_lease) { EXPECT_EQ(gputest::current_devices().size(), 1U); }
