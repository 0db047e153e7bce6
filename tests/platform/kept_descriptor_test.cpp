// SPDX-License-Identifier: BSD-3-Clause
#include "platform/kept_descriptor.hpp"

#include "support/message_of.hpp"
#include "support/private_folder.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>

#include <fstream>
#include <utility>

namespace gputest::platform {
namespace {

using tests::message_of;

class KeptDescriptorTest : public ::testing::Test {
protected:
  KeptDescriptorTest() {
    std::ofstream{path_} << "text";
    std::ofstream{other_} << "other";
  }

  [[nodiscard]] KeptDescriptor keep() const { return KeptDescriptor{open(path_), path_}; }
  static Descriptor open(const std::string& path) { return Descriptor{::open(path.c_str(), O_RDWR | O_CLOEXEC)}; }
  static bool is_open(int number) { return ::fcntl(number, F_GETFD) >= 0; }

  /// What a test does that closes a descriptor twice, where another file of its own is opened in between.
  void replace(int number) const { ASSERT_EQ(::dup2(open(other_).number(), number), number); }

  tests::PrivateFolder folder_;
  std::string path_ = folder_.path() + "/file";
  std::string other_ = folder_.path() + "/other";
};

TEST_F(KeptDescriptorTest, is_of_its_file_as_long_as_it_is_open) {
  int number = -1;
  {
    KeptDescriptor kept = keep();
    number = kept.number();
    EXPECT_TRUE(is_open(number));
    KeptDescriptor moved{std::move(kept)};
    kept = KeptDescriptor{};
    EXPECT_EQ(moved.number(), number);
    EXPECT_TRUE(*FileIdentity::at(path_) == moved.identity());
  }
  EXPECT_FALSE(is_open(number)) << "closed at its end";
}

TEST_F(KeptDescriptorTest, that_was_closed_is_an_error_that_says_which_and_why) {
  const KeptDescriptor kept = keep();
  const std::string number = std::to_string(kept.number());
  ::close(kept.number());
  EXPECT_EQ(message_of<LedgerError>([&] { static_cast<void>(kept.number()); }),
            "file descriptor " + number + ", which gputest keeps open for " + path_ +
                ", was closed by something else in this process; a test must close no descriptors but its own (not all "
                "from 3 on, and none of its own twice)");
  EXPECT_TRUE(kept) << "there was one";
}

TEST_F(KeptDescriptorTest, whose_number_is_another_files_is_not_used_and_not_closed) {
  int number = -1;
  {
    const KeptDescriptor kept = keep();
    number = kept.number();
    replace(number);
    EXPECT_NE(message_of<LedgerError>([&] { static_cast<void>(kept.number()); }).find("and is another file's now"),
              std::string::npos);
  }
  EXPECT_TRUE(is_open(number)) << "it is the other one's";
  ::close(number);
}

} // namespace
} // namespace gputest::platform
