// SPDX-License-Identifier: BSD-3-Clause
#include "platform/host_name.hpp"

#include <gtest/gtest.h>

#include <sys/utsname.h>

namespace gputest::platform {
namespace {

TEST(HostName, is_the_kernels) {
  utsname names{};
  ASSERT_EQ(::uname(&names), 0);
  EXPECT_EQ(host_name(), &names.nodename[0]);
}

} // namespace
} // namespace gputest::platform
