// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/reason.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>

#include <cerrno>

namespace gputest::os {
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
  EXPECT_EQ(reason(EDQUOT), "Disk quota exceeded (quota shows what is full)");
}

TEST(Reason, of_a_failure_stands_behind_what_was_to_be_done_with_which_file) {
  EXPECT_STREQ(failure("open", "/some/file", EACCES).what(), "cannot open /some/file: Permission denied");
}

} // namespace
} // namespace gputest::os
