// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/kept_descriptor.hpp"

#include "support/in_child.hpp"
#include "support/message_of.hpp"
#include "support/private_folder.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>

namespace gputest::os {
namespace {

using tests::in_child;
using tests::message_of;

bool is_open(int number) { return ::fcntl(number, F_GETFD) >= 0; }

int open_null() { return ::open("/dev/null", O_RDWR | O_CLOEXEC); }

TEST(Descriptor, is_closed_at_its_end_and_once) {
  const int number = open_null();
  {
    Descriptor file{number};
    EXPECT_TRUE(file);
    const Descriptor moved{std::move(file)};
    EXPECT_FALSE(file); // NOLINT(bugprone-use-after-move): what is left is none
    EXPECT_EQ(moved.number(), number);
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
  EXPECT_FALSE(Descriptor{});
  EXPECT_EQ(Descriptor{}.number(), -1);
}

TEST(Descriptor, never_has_the_number_of_a_standard_stream) {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    EXPECT_EQ(in_child([&] {
                ::close(stream);
                const int opened = open_null();
                const Descriptor file{opened};
                const bool is_moved = opened == stream && file.number() > STDERR_FILENO && !is_open(stream);
                return is_moved && ::fcntl(file.number(), F_GETFD) == FD_CLOEXEC ? 0 : 1;
              }),
              0)
        << stream;
  }
}

class KeptDescriptorTest : public ::testing::Test {
protected:
  KeptDescriptorTest() {
    std::ofstream{path_} << "text";
    std::ofstream{other_} << "other";
  }

  [[nodiscard]] KeptDescriptor keep() const { return KeptDescriptor{open(path_), path_}; }
  static Descriptor open(const std::string& path) { return Descriptor{::open(path.c_str(), O_RDWR | O_CLOEXEC)}; }

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

TEST_F(KeptDescriptorTest, whose_file_was_removed_says_so) {
  const KeptDescriptor kept = keep();
  EXPECT_FALSE(kept.is_removed());
  std::filesystem::rename(path_, path_ + "-old");
  EXPECT_FALSE(kept.is_removed()) << "it has another name now";
  std::filesystem::remove(path_ + "-old");
  EXPECT_TRUE(kept.is_removed());
  replace(kept.unchecked_number());
  std::filesystem::remove(other_);
  EXPECT_FALSE(kept.is_removed()) << "of another file nothing is said";
  ::close(kept.unchecked_number());
}

TEST_F(KeptDescriptorTest, of_a_folder_lacks_what_was_removed_renamed_or_replaced) {
  folder_.make_folder("in");
  const std::string file = folder_.path() + "/in/file";
  std::ofstream{file} << "text";
  const KeptDescriptor kept{Descriptor{::open((folder_.path() + "/in").c_str(), O_RDONLY | O_DIRECTORY)}, "in"};
  const auto identity = *FileIdentity::at(file);
  const auto lacks = [&] { return kept.lacks("file", identity); };
  EXPECT_FALSE(lacks());
  std::filesystem::rename(file, file + "-old");
  EXPECT_TRUE(lacks());
  std::filesystem::create_symlink("file-old", file);
  EXPECT_TRUE(lacks()) << "a link to it is another file";
  std::filesystem::rename(file + "-old", file);
  EXPECT_FALSE(lacks());
  const std::string too_long(1000, 'x');
  EXPECT_FALSE(kept.lacks(too_long, identity)) << "what cannot be seen";
  std::filesystem::remove(file);
  EXPECT_TRUE(lacks());
  replace(kept.unchecked_number());
  EXPECT_FALSE(lacks()) << "the folder itself is lost";
  ::close(kept.unchecked_number());
}

} // namespace
} // namespace gputest::os
