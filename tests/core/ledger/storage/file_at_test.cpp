// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/storage/file_at.hpp"

#include "core/os/host.hpp"
#include "support/in_child.hpp"
#include "support/message_of.hpp"
#include "support/private_folder.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace gputest::os {

namespace {

using tests::in_child;
using tests::message_of;

const std::string own_repair =
    "; when no GPU test is running, remove the ledger's folder, or set GPUTEST_DIR to another one";

class FileAtTest : public ::testing::Test {
protected:
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

  void make_fifo(const std::string& name, mode_t mode) const {
    ASSERT_EQ(::mkfifo(path(name).c_str(), 0600), 0);
    ASSERT_EQ(::chmod(path(name).c_str(), mode), 0);
  }

  [[nodiscard]] mode_t mode_of(const std::string& name) const {
    struct stat status {};
    return ::stat(path(name).c_str(), &status) == 0 ? status.st_mode & 07777U : 0;
  }

  tests::PrivateFolder folder_;
};

TEST_F(FileAtTest, gives_its_mode_to_what_it_makes_and_to_a_fifo_only) {
  folder_.write("file", "", 0640);
  EXPECT_TRUE(FileAt{path("file")}.open(O_RDWR, S_IFREG));
  EXPECT_EQ(mode_of("file"), 0640U) << "opened as it is";
  EXPECT_TRUE(FileAt{path("file")}.open(O_RDWR | O_CREAT, S_IFREG));
  EXPECT_EQ(mode_of("file"), 0600U);
  make_fifo("fifo", 0666);
  EXPECT_TRUE(FileAt{path("fifo")}.open(O_RDWR, S_IFIFO));
  EXPECT_EQ(mode_of("fifo"), 0600U);
  FileAt shared{path("shared")};
  shared.mode = 0664;
  EXPECT_EQ(in_child([&] {
              ::umask(077);
              return shared.open(O_RDWR | O_CREAT, S_IFREG) ? 0 : 1;
            }),
            0);
  EXPECT_EQ(mode_of("shared"), 0664U);
}

TEST_F(FileAtTest, that_was_made_under_any_umask_can_be_opened_by_its_owner) {
  std::filesystem::permissions(folder_.path(), std::filesystem::perms{0777});
  for (const mode_t mask : {0277U, 0777U}) {
    for (const std::string killed : {"", "killed"}) { // before it could give the file its mode
      const std::string number = std::to_string(mask) + killed;
      EXPECT_EQ(in_child([&] {
                  tests::become_nobody();
                  ::umask(mask);
                  if (!killed.empty()) {
                    ::close(::open(path("file" + number).c_str(), O_RDWR | O_CREAT, 0600));
                    ::mkfifo(path("fifo" + number).c_str(), 0600);
                  }
                  return FileAt{path("file" + number)}.open(O_RDWR | O_CREAT, S_IFREG) &&
                                 FileAt{path("fifo" + number)}.open_or_make_fifo(O_RDWR)
                             ? 0
                             : 1;
                }),
                0)
          << number;
      EXPECT_EQ(mode_of("file" + number), 0600U);
      EXPECT_EQ(mode_of("fifo" + number), 0600U);
    }
  }
}

TEST_F(FileAtTest, of_another_type_is_refused_with_what_it_is) {
  folder_.write("file", "", 0600);
  folder_.make_folder("folder");
  make_fifo("fifo", 0600);
  const Descriptor socket{::socket(AF_UNIX, SOCK_STREAM, 0)};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path("socket").copy(&address.sun_path[0], sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket.number(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0); // NOLINT
  std::filesystem::create_symlink(path("file"), path("link"));
  const auto said = [&](const std::string& name, int flags, mode_t type) {
    return message_of<LedgerError>([&] { static_cast<void>(FileAt{path(name)}.open(flags, type)); });
  };
  const auto expected = [&](const std::string& name, const std::string& is) {
    return path(name) + " is " + is + own_repair;
  };
  EXPECT_EQ(said("file", O_RDONLY, S_IFIFO), expected("file", "a regular file, and must be a FIFO"));
  EXPECT_EQ(said("fifo", O_RDONLY, S_IFREG), expected("fifo", "a FIFO, and must be a regular file")); // at once
  EXPECT_EQ(said("fifo", O_WRONLY, S_IFREG), expected("fifo", "a FIFO, and must be a regular file"));
  EXPECT_EQ(said("folder", O_RDWR, S_IFREG), expected("folder", "a folder, and must be a regular file"));
  EXPECT_EQ(said("folder", O_RDONLY, S_IFREG), expected("folder", "a folder, and must be a regular file"));
  EXPECT_EQ(said("file", O_RDONLY | O_DIRECTORY, S_IFDIR), expected("file", "a regular file, and must be a folder"));
  EXPECT_EQ(said("socket", O_RDWR, S_IFREG), expected("socket", "a special file, and must be a regular file"));
  EXPECT_EQ(said("link", O_RDONLY, S_IFREG),
            expected("link", "a symbolic link to " + path("file") + ", and must be a regular file"));
}

TEST_F(FileAtTest, with_several_names_is_refused_unless_it_is_a_folder) {
  folder_.write("file", "", 0600);
  EXPECT_TRUE(FileAt{path("file")}.open(O_RDONLY, S_IFREG));
  std::filesystem::create_hard_link(path("file"), path("second"));
  std::filesystem::create_hard_link(path("file"), path("third"));
  EXPECT_EQ(message_of<LedgerError>([&] { static_cast<void>(FileAt{path("second")}.open(O_RDONLY, S_IFREG)); }),
            path("second") + " has 3 names (hard links), and must have one: it is not used" + own_repair);
  folder_.make_folder("folder");
  folder_.make_folder("folder/below"); // a name of the folder above it
  EXPECT_TRUE(FileAt{path("folder")}.open(O_RDONLY | O_DIRECTORY, S_IFDIR));
}

TEST_F(FileAtTest, that_another_user_must_have_is_refused_and_no_fifo_is_made_for_that_one) {
  folder_.write("file", "", 0600);
  FileAt others{path("file")};
  others.owner = 4000000;
  EXPECT_FALSE(others.is_own());
  EXPECT_TRUE(FileAt{path("file")}.is_own());
  const std::string said = message_of<LedgerError>([&] { static_cast<void>(others.open(O_RDONLY, S_IFREG)); });
  EXPECT_EQ(said.find(path("file") + " belongs to "), 0U) << said;
  EXPECT_NE(said.find("(uid " + std::to_string(::geteuid()) + "), and must belong to "), std::string::npos) << said;
  EXPECT_NE(said.find("(uid 4000000): it is not used" + own_repair), std::string::npos)
      << "who has the name can free it: " << said;
  FileAt fifo{path("fifo")};
  fifo.owner = 4000000;
  EXPECT_FALSE(fifo.open_or_make_fifo(O_RDWR));
  EXPECT_EQ(errno, ENOENT);
  EXPECT_FALSE(std::filesystem::exists(path("fifo")));
  EXPECT_TRUE(FileAt{path("fifo")}.open_or_make_fifo(O_RDWR));
  EXPECT_TRUE(std::filesystem::is_fifo(path("fifo")));
}

TEST_F(FileAtTest, that_another_user_has_is_named_even_if_it_may_not_be_opened_and_is_left_as_it_is) {
  EXPECT_EQ(repair_of(::geteuid()), own_repair);
  EXPECT_EQ(repair_of(4000000),
            "; " + user_name(4000000) + " or an administrator has to remove it, or set GPUTEST_DIR to another folder");
  if (::geteuid() != 0) {
    return; // others cannot be two users
  }
  constexpr uid_t nobody = 65534;
  folder_.write("nobodys", "", 0640);
  ASSERT_EQ(::chown(path("nobodys").c_str(), nobody, nobody), 0);
  FileAt others{path("nobodys")};
  others.owner = nobody;
  EXPECT_TRUE(others.open(O_RDWR | O_CREAT, S_IFREG));
  EXPECT_EQ(mode_of("nobodys"), 0640U);
  folder_.write("roots", "", 0600);
  std::filesystem::create_symlink("roots", path("link"));
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  EXPECT_EQ(in_child([&] {
              tests::become_nobody();
              for (const char* const name : {"roots", "link"}) {
                EXPECT_EQ(
                    message_of<LedgerError>([&] { static_cast<void>(FileAt{path(name)}.open(O_RDONLY, S_IFREG)); }),
                    path(name) + " belongs to root (uid 0), and must belong to nobody (uid 65534): it is not used; "
                                 "root or an administrator has to remove it, or set GPUTEST_DIR to another folder");
              }
              return ::testing::Test::HasFailure() ? 1 : 0;
            }),
            0);
}

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

} // namespace

} // namespace gputest::os
