// SPDX-License-Identifier: BSD-3-Clause
#include "insights/text_file.hpp"

#include "support/message_of.hpp"
#include "support/private_folder.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

namespace gputest::insights {
namespace {

TEST(TextFiles, are_read_as_they_were_written) {
  const tests::PrivateFolder folder;
  const auto path = folder.path() + "/text";
  for (const auto& text : {std::string{}, std::string(65536, 'x'), std::string{"a\r\nb\0c\xff", 7}}) {
    write_text(path, text);
    EXPECT_EQ(read_text(path), text);
  }
}

TEST(TextFiles, that_cannot_be_read_or_written_are_named_with_the_reason) {
  const tests::PrivateFolder folder;
  const auto missing = folder.path() + "/missing/text";
  EXPECT_EQ(tests::message_of<Error>([&] { static_cast<void>(read_text(missing)); }),
            missing + " cannot be read: No such file or directory");
  EXPECT_EQ(tests::message_of<Error>([&] { static_cast<void>(read_text(folder.path())); }),
            folder.path() + " cannot be read: Is a directory");
  EXPECT_EQ(tests::message_of<Error>([&] { write_text(missing, "text"); }),
            missing + " cannot be written: No such file or directory");
  EXPECT_NE(tests::message_of<Error>([] {
              write_text("/dev/full", "text");
            }).find("/dev/full cannot be written: No space left on device"),
            std::string::npos);
}

} // namespace
} // namespace gputest::insights
