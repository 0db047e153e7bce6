// SPDX-License-Identifier: BSD-3-Clause
#include "platform/report_file.hpp"

#include <gtest/gtest.h>

namespace gputest::platform {
namespace {

TEST(ReportFile, has_all_lines_that_were_appended) {
  const ReportFile file;
  EXPECT_EQ(file.contents(), "");
  append_line(file.path(), "first");
  append_line(file.path(), "second");
  EXPECT_EQ(file.contents(), "first\nsecond\n");
}

} // namespace
} // namespace gputest::platform
