// SPDX-License-Identifier: BSD-3-Clause
#include "platform/report_file.hpp"

#include "support/in_child.hpp"
#include "support/message_of.hpp"
#include "support/private_folder.hpp"
#include "support/use_up_descriptors.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gputest::platform {
namespace {

TEST(ReportFile, has_all_lines_that_were_appended) {
  const ReportFile file;
  EXPECT_EQ(file.contents(), "");
  append_line(file.path(), "first");
  append_line(file.path(), "second");
  EXPECT_EQ(file.contents(), "first\nsecond\n");
}

TEST(ReportFile, has_what_other_processes_append_however_long_it_is) {
  const ReportFile file;
  const std::string line(5000, 'x');
  const auto append = [&] {
    append_line(file.path(), line);
    return 0;
  };
  EXPECT_EQ(tests::in_child(append), 0);
  EXPECT_EQ(tests::in_child(append), 0);
  EXPECT_EQ(file.contents(), line + "\n" + line + "\n");
  EXPECT_EQ(file.contents().size(), 10002U) << "reading takes nothing away";
}

TEST(ReportFile, that_cannot_be_made_is_an_error_that_says_why) {
  EXPECT_EQ(tests::in_child([] {
              tests::use_up_descriptors();
              const auto said = tests::message_of<Error>([] { const ReportFile file; });
              return said.find("no file can be made for what the tests of the command report: Too many open files") == 0
                         ? 0
                         : 1;
            }),
            0);
}

} // namespace
} // namespace gputest::platform
