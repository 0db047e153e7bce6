// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/shared_file.hpp"

#include "support/in_child.hpp"
#include "support/message_of.hpp"
#include "support/private_folder.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

namespace gputest::os {
namespace {

using tests::in_child;
using tests::message_of;

class SharedFileTest : public ::testing::Test {
protected:
  SharedFileTest() { SharedFile::create(path_, 8192); }

  static std::string text_at(const SharedFile& file, std::size_t offset, std::size_t size) {
    std::string text(size, '\0');
    file.read(offset, text.data(), size);
    return text;
  }

  tests::PrivateFolder folder_;
  std::string path_ = folder_.path() + "/file";
};

TEST_F(SharedFileTest, is_made_of_zeros_that_are_really_there) {
  const SharedFile file{path_};
  EXPECT_EQ(file.size(), 8192U);
  EXPECT_EQ(text_at(file, 0, 8192), std::string(8192, '\0'));
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_GE(status.st_blocks * 512, 8192) << "allocated, so that no write can fail for want of room";
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
}

TEST_F(SharedFileTest, shows_at_once_what_another_process_writes) {
  const SharedFile file{path_};
  EXPECT_EQ(in_child([&] {
              SharedFile{path_}.write(4096, "other", 5);
              return 0;
            }),
            0);
  EXPECT_EQ(text_at(file, 4096, 5), "other");
  EXPECT_EQ(text_at(file, 4091, 5), std::string(5, '\0'));
}

TEST_F(SharedFileTest, that_another_process_truncates_is_an_error_and_not_a_signal) {
  const SharedFile file{path_};
  std::filesystem::resize_file(path_, 100);
  EXPECT_EQ(text_at(file, 0, 100), std::string(100, '\0'));
  EXPECT_EQ(message_of<LedgerError>([&] { text_at(file, 4096, 256); }),
            path_ + " is damaged: it ends after 100 bytes, and has to have 4352 at least; when no GPU test is running, "
                    "remove the ledger's folder, or set GPUTEST_DIR to another one");
}

/// The descriptor that this process writes the file with.
int descriptor_of(const std::string& path) {
  const auto identity = FileIdentity::at(path);
  int number = 0;
  for (auto file = FileIdentity::of(number); !file || !(*file == *identity); file = FileIdentity::of(number)) {
    ++number;
  }
  return number;
}

TEST_F(SharedFileTest, whose_descriptor_was_closed_can_be_neither_read_nor_written) {
  SharedFile file{path_};
  file.write(0, "before", 6);
  file.require_kept();
  ::close(descriptor_of(path_));
  const auto said = message_of<LedgerError>([&] { file.write(0, "after", 5); });
  EXPECT_NE(said.find("which gputest keeps open for " + path_ + ", was closed by something else in this process"),
            std::string::npos)
      << said;
  EXPECT_EQ(message_of<LedgerError>([&] { file.require_kept(); }), said);
  EXPECT_EQ(message_of<LedgerError>([&] { text_at(file, 0, 6); }), said);
  EXPECT_EQ(text_at(SharedFile{path_}, 0, 6), "before");
}

TEST_F(SharedFileTest, whose_descriptor_is_another_files_now_writes_nothing_there) {
  const std::string other = folder_.path() + "/other";
  SharedFile::create(other, 8192);
  {
    SharedFile file{path_};
    ASSERT_GE(::dup2(Descriptor{::open(other.c_str(), O_RDWR)}.number(), descriptor_of(path_)), 0);
    EXPECT_THROW(file.write(0, "after", 5), LedgerError);
    std::filesystem::resize_file(other, 5);
    EXPECT_NE(message_of<LedgerError>([&] { text_at(file, 0, 8192); }).find("which gputest keeps open for " + path_),
              std::string::npos)
        << "rather than that it is damaged";
  }
  EXPECT_EQ(text_at(SharedFile{other}, 0, 5), std::string(5, '\0'));
  ::close(descriptor_of(other)); // still open: it was not closed with the shared file
}

TEST_F(SharedFileTest, that_cannot_be_made_or_opened_is_an_error_that_names_it) {
  EXPECT_EQ(message_of<LedgerError>([&] { SharedFile{path_ + "x"}; }),
            "cannot read and write " + path_ + "x: No such file or directory");
  const auto too_large = std::size_t{1} << 60U;
  EXPECT_EQ(message_of<LedgerError>([&] {
              SharedFile::create(path_ + "y", too_large);
            }).find("cannot allocate 1152921504606846976 bytes for " + path_ + "y: "),
            0U);
}

TEST_F(SharedFileTest, larger_than_the_limit_of_this_process_is_an_error_and_no_signal) {
  const int status = in_child([&] {
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 100; // the process could raise it
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto open = message_of<LedgerError>([&] { SharedFile{path_}; });
    const auto create = message_of<LedgerError>([&] { SharedFile::create(path_ + "2", 8192); });
    const std::string expected = " needs 8192 bytes, and this process may write files of 100 bytes only (ulimit -f)";
    return open.find(path_ + expected) == 0 && create.find(path_ + "2" + expected) == 0 ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
}

TEST_F(SharedFileTest, that_cannot_take_a_whole_write_is_an_error_that_names_it) {
  const int status = in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    SharedFile file{path_};
    const rlimit limit{100, 100};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto said = message_of<LedgerError>([&] { file.write(96, "12345678", 8); });
    return said == "cannot write " + path_ + ": File too large" && text_at(file, 96, 5) == std::string("1234\0", 5) ? 0
                                                                                                                    : 1;
  });
  EXPECT_EQ(status, 0);
}

TEST_F(SharedFileTest, of_another_user_is_read_and_not_written) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can be two users";
  }
  SharedFile{path_}.write(0, "text", 4);
  ASSERT_EQ(::chown(path_.c_str(), 65534, 65534), 0);
  const auto others = [&](const std::string& path) {
    FileAt file{path};
    file.owner = 65534;
    return file;
  };
  SharedFile file{others(path_)};
  EXPECT_EQ(text_at(file, 0, 4), "text");
  EXPECT_THROW(file.write(0, "else", 4), LedgerError);
  EXPECT_EQ(text_at(file, 0, 4), "text");
  EXPECT_EQ(message_of<LedgerError>([&] { SharedFile{others(path_ + "x")}; }),
            "cannot read " + path_ + "x: No such file or directory");
  const int status = in_child([&] {
    const rlimit limit{100, 100};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    return message_of<LedgerError>([&] { SharedFile{others(path_)}; }) == "done" ? 0 : 1;
  });
  EXPECT_EQ(status, 0) << "what this process does not write may be as large as it is";
}

TEST_F(SharedFileTest, is_removed_once_it_has_no_name) {
  const SharedFile file{path_};
  EXPECT_FALSE(file.is_removed());
  std::filesystem::rename(path_, path_ + "2");
  EXPECT_FALSE(file.is_removed());
  std::filesystem::remove(path_ + "2");
  EXPECT_TRUE(file.is_removed());
}

TEST_F(SharedFileTest, is_emptied_where_a_killed_process_has_begun_one) {
  SharedFile{path_}.write(0, "text", 4);
  SharedFile::create(path_, 4096);
  const SharedFile file{path_};
  EXPECT_EQ(file.size(), 4096U);
  EXPECT_EQ(text_at(file, 0, 4), std::string(4, '\0'));
  SharedFile::create(path_, 0);
  EXPECT_EQ(file.size(), 0U);
}

TEST_F(SharedFileTest, never_has_the_number_of_a_standard_stream) {
  const int status = in_child([&] {
    ::close(STDOUT_FILENO);
    const SharedFile file{path_};
    return ::fcntl(STDOUT_FILENO, F_GETFD) < 0 ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
}

} // namespace
} // namespace gputest::os
