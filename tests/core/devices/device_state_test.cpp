// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/this_process.hpp"

#include <gtest/gtest.h>

namespace gputest::devices {
namespace {

TEST(DeviceState, names_the_first_difference) {
  const DeviceState before{0, {{0, {{"a", 1}, {"b", 2}}}}};
  EXPECT_EQ(change_between(before, before), "");
  EXPECT_EQ(change_between(before, {1, before.limits}), "device 1 is the current one, in place of 0");
  EXPECT_EQ(change_between(before, {0, {{0, {{"a", 1}, {"b", 3}}}}}), "b of device 0 is 3, in place of 2");
}

TEST(DeviceState, takes_what_begins_or_ends_for_no_difference) {
  const DeviceState nothing;
  const DeviceState state{1, {{1, {{"a", 1}}}}};
  EXPECT_EQ(change_between(nothing, state), "");
  EXPECT_EQ(change_between(state, nothing), ""); // as after cudaDeviceReset()
  EXPECT_EQ(change_between(state, {1, {{0, {{"a", 2}}}, {1, {{"b", 2}}}}}), "");
}

} // namespace
} // namespace gputest::devices
