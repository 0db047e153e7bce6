// SPDX-License-Identifier: BSD-3-Clause
#include "platform/reason.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>

#include <cerrno>

namespace gputest::platform {
namespace {

TEST(Reason, is_the_kernels_with_what_to_do_where_that_is_not_plain) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(reason(EACCES), "Permission denied");
  EXPECT_EQ(reason(ENOSPC), "No space left on device (df and df -i show what is full)");
  EXPECT_EQ(reason(EMFILE), "Too many open files (this process has all " + std::to_string(limit.rlim_cur) +
                                " open that it may have; close some, or raise the limit: ulimit -n)");
  EXPECT_EQ(reason(ENFILE), "Too many open files in system (the machine has no file descriptor left for anybody: "
                            "/proc/sys/fs/file-nr)");
}

} // namespace
} // namespace gputest::platform
