// SPDX-License-Identifier: BSD-3-Clause
// Tests that use GoogleMock.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

TEST(Flags, of_googlemock_are_read) { EXPECT_EQ(GMOCK_FLAG_GET(verbose), "error"); }
