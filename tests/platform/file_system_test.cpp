// SPDX-License-Identifier: BSD-3-Clause
#include "platform/file_system.hpp"

#include "platform/descriptor.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <linux/magic.h>

namespace gputest::platform {
namespace {

TEST(FileSystem, has_the_type_that_the_kernel_tells) {
  const Descriptor file{::open("/proc/self/stat", O_RDONLY | O_CLOEXEC)};
  EXPECT_EQ(file_system_type(file.number()), static_cast<std::uint32_t>(PROC_SUPER_MAGIC));
  EXPECT_EQ(file_system_type(-1), 0U);
}

} // namespace
} // namespace gputest::platform
