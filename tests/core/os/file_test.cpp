// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/file.hpp"

#include "support/in_child.hpp"
#include "support/message_of.hpp"
#include "support/private_folder.hpp"

#include <gputest/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

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

TEST(OutOfTheWay, is_a_descriptor_that_nobody_chooses_where_that_many_are_allowed) {
  const int chosen = ::open("/", O_PATH | O_CLOEXEC);
  const auto moved = out_of_the_way(Descriptor{chosen});
  EXPECT_GE(moved.number(), 700);
  EXPECT_EQ(::fcntl(moved.number(), F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(::fcntl(chosen, F_GETFD), -1);
  EXPECT_FALSE(out_of_the_way(Descriptor{}));
  EXPECT_EQ(tests::in_child([] {
              const rlimit few{100, 100};
              ::setrlimit(RLIMIT_NOFILE, &few);
              const int number = ::open("/", O_PATH | O_CLOEXEC);
              return out_of_the_way(Descriptor{number}).number() == number ? 0 : 1;
            }),
            0);
}

TEST(TextsIn, are_found_wherever_a_file_is_read_in_pieces) {
  const tests::PrivateFolder folder;
  const std::set<std::string> texts{"libcuda", std::string{"dlopen\0", 7}, "missing"};
  constexpr std::size_t piece = std::size_t{256} << 10U;
  for (const auto& text : {std::string{"libcuda"}, std::string{"dlopen\0", 7}}) {
    for (std::size_t place = 2 * piece - 20; place < 2 * piece + 20; ++place) {
      folder.write("file", std::string(place, '\0') + text, 0600);
      EXPECT_EQ(texts_in(folder.path() + "/file", texts), std::set{text}) << place;
    }
  }
  folder.write("file", "libcud", 0600);
  EXPECT_EQ(texts_in(folder.path() + "/file", texts), std::set<std::string>{});
  folder.write("file", "", 0600);
  EXPECT_EQ(texts_in(folder.path() + "/file", texts), std::set<std::string>{});
  EXPECT_EQ(texts_in(folder.path(), texts), std::nullopt);
  EXPECT_EQ(texts_in(folder.path() + "/none", texts), std::nullopt);
  ASSERT_EQ(::mkfifo((folder.path() + "/fifo").c_str(), 0600), 0);
  for (const auto& endless : {folder.path() + "/fifo", std::string{"/dev/zero"}}) {
    EXPECT_EQ(texts_in(endless, texts), std::nullopt) << endless;
  }
}

TEST(Folders, are_made_with_those_that_they_are_in_and_can_be_used_by_this_user_whatever_the_umask) {
  const tests::PrivateFolder folder;
  const auto mode_of = [&](const std::string& name) {
    struct stat status {};
    return ::stat((folder.path() + "/" + name).c_str(), &status) == 0 ? status.st_mode & 07777U : 0;
  };
  const auto umask_before = ::umask(0737);
  const auto error = make_folders(folder.path() + "/a/b/");
  ::umask(umask_before);
  EXPECT_FALSE(error);
  EXPECT_EQ(mode_of("a"), 0740U);
  EXPECT_EQ(mode_of("a/b"), 0740U);
  folder.write("file", "", 0600);
  EXPECT_EQ(make_folders(folder.path() + "/file").value(), ENOTDIR);
  EXPECT_EQ(make_folders(folder.path() + "/file/a").value(), ENOTDIR);
  EXPECT_FALSE(make_folders(folder.path() + "/a"));
}

TEST(FileStamp, has_the_size_and_the_time_to_the_nanosecond) {
  const tests::PrivateFolder folder;
  folder.write("file", "12345", 0644);
  const std::string file = folder.path() + "/file";
  const auto set_time = [&](timespec modified) {
    const std::array<timespec, 2> times{timespec{1, 1}, modified};
    ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times.data(), 0), 0);
  };
  set_time({1'700'000'000, 23});
  const auto stamp = stamp_of(file);
  ASSERT_TRUE(stamp);
  EXPECT_EQ(stamp->bytes, 5U);
  EXPECT_EQ(stamp->modified, 1'700'000'000'000'000'023U);
  EXPECT_TRUE(stamp_of(file) == stamp);
  set_time({1'700'000'000, 24});
  EXPECT_FALSE(stamp_of(file) == stamp) << "another time";
  std::filesystem::resize_file(file, 4);
  set_time({1'700'000'000, 23});
  EXPECT_FALSE(stamp_of(file) == stamp) << "another size";
  EXPECT_EQ(stamp_of(folder.path() + "/none"), std::nullopt);
  EXPECT_NE(executable_identity().value_or(0), 0U);
  EXPECT_EQ(executable_identity(), executable_identity());
}

/// A child that writes a line to `file` and comes back: 0. 1: it comes back with another mask or a signal.
int write_in_child(int file) {
  int status = 0;
  const pid_t child = tests::start_child([&] {
    ::setpgid(0, 0); // in the background of a terminal
    sigset_t before{};
    sigset_t after{};
    ::sigprocmask(SIG_SETMASK, nullptr, &before);
    write_if_ready(Descriptor{::dup(file)}, "a line\n");
    ::sigprocmask(SIG_SETMASK, nullptr, &after);
    sigset_t pending{};
    ::sigpending(&pending);
    const bool is_unchanged = std::memcmp(&before, &after, sizeof before) == 0 && ::sigisemptyset(&pending) == 1;
    return is_unchanged && ::signal(SIGTTOU, SIG_DFL) == SIG_DFL && ::signal(SIGPIPE, SIG_DFL) == SIG_DFL ? 0 : 1;
  });
  ::waitpid(child, &status, WUNTRACED);
  ::kill(child, SIGKILL);
  return status;
}

TEST(ALineForOthers, is_dropped_where_nobody_reads_or_it_would_block) {
  ::signal(SIGPIPE, SIG_DFL);
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  EXPECT_EQ(write_in_child(ends[1]), 0);
  std::array<char, 65536> block{};
  EXPECT_EQ(::read(ends[0], block.data(), block.size()), 7);
  ASSERT_EQ(::fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
  while (::write(ends[1], block.data(), block.size()) > 0) {
  }
  ASSERT_EQ(::fcntl(ends[1], F_SETFL, 0), 0);
  EXPECT_EQ(write_in_child(ends[1]), 0) << "full";
  ::close(ends[0]);
  EXPECT_EQ(write_in_child(ends[1]), 0) << "nobody reads";
  ::close(ends[1]);
}

TEST(ALineForOthers, is_written_in_the_background_of_a_terminal_unless_that_is_paused) {
  const Descriptor people{::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)};
  if (::grantpt(people.number()) != 0 || ::unlockpt(people.number()) != 0) {
    GTEST_SKIP() << "no terminal can be had here";
  }
  const auto write_with = [&](int action) {
    return tests::in_child([&] {
      ::setsid();
      const Descriptor terminal{::open(::ptsname(people.number()), O_RDWR)}; // becomes that of the session
      termios settings{};
      ::tcgetattr(terminal.number(), &settings);
      settings.c_lflag |= TOSTOP;
      ::tcsetattr(terminal.number(), TCSANOW, &settings);
      ::tcflow(terminal.number(), action);
      const int status = write_in_child(terminal.number());
      ::tcflow(terminal.number(), TCOON);
      return status == 0 ? 0 : 1;
    });
  };
  EXPECT_EQ(write_with(TCOON), 0);
  std::array<char, 100> text{};
  ASSERT_EQ(::read(people.number(), text.data(), text.size()), 8);
  EXPECT_STREQ(text.data(), "a line\r\n");
  EXPECT_EQ(write_with(TCOOFF), 0) << "as Ctrl-S does";
}

using testing::HasSubstr;

class LineFiles : public ::testing::Test {
protected:
  [[nodiscard]] std::string path() const { return folder_.path() + "/logs/file"; }
  [[nodiscard]] std::string contents() const {
    std::ifstream file{path()};
    return {std::istreambuf_iterator<char>{file}, {}};
  }

  tests::PrivateFolder folder_;
  LineFile file_{folder_.path() + "/logs", "file"};
};

TEST_F(LineFiles, are_made_once_with_their_folder) {
  EXPECT_TRUE(file_.create());
  EXPECT_FALSE(file_.create());
  const auto mode = std::filesystem::status(path()).permissions();
  EXPECT_EQ(mode, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(LineFiles, keep_a_line_apart_from_the_part_that_a_killed_process_has_left) {
  EXPECT_TRUE(file_.create());
  std::ofstream{path()} << "one\ntw";
  file_.append("three");
  EXPECT_EQ(contents(), "one\ntw\nthree\n");
}

TEST_F(LineFiles, that_are_links_or_have_other_names_are_not_written) {
  EXPECT_TRUE(file_.create());
  std::filesystem::create_hard_link(path(), folder_.path() + "/other");
  EXPECT_THAT(tests::message_of<Error>([&] { file_.append("one"); }), HasSubstr("with one name"));
  std::filesystem::remove(path());
  std::filesystem::create_symlink(folder_.path() + "/other", path());
  EXPECT_FALSE(file_.create());
  EXPECT_THAT(tests::message_of<Error>([&] { file_.append("one"); }), HasSubstr("cannot be written to " + path()));
  EXPECT_EQ(std::filesystem::file_size(folder_.path() + "/other"), 0U);
}

TEST_F(LineFiles, that_are_not_there_or_no_regular_files_are_not_written) {
  const auto said = [&] { return tests::message_of<Error>([&] { file_.append("one"); }); };
  const std::string begin = "cannot be written to " + path() + ": ";
  EXPECT_EQ(said(), begin + "No such file or directory");
  EXPECT_TRUE(file_.create());
  std::filesystem::remove(path());
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  EXPECT_EQ(said(), begin + "No such device or address") << "and does not wait for a reader";
  const Descriptor reader{::open(path().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
  EXPECT_EQ(said(), begin + "it is no regular file of this user's with one name");
}

TEST_F(LineFiles, of_another_user_are_not_written) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can be two users";
  }
  EXPECT_TRUE(file_.create());
  ASSERT_EQ(::chown(path().c_str(), 65534, 65534), 0);
  EXPECT_THAT(tests::message_of<Error>([&] { file_.append("one"); }), HasSubstr("no regular file of this user's"));
  EXPECT_EQ(contents(), "");
}

TEST(FileSizeLimit, that_another_thread_restores_before_this_one_writes_ends_no_process) {
  const tests::PrivateFolder folder;
  const Descriptor file{::open((folder.path() + "/file").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)};
  int status = 0;
  ::waitpid(tests::start_child([&] {
              ::signal(SIGXFSZ, SIG_DFL);
              const rlimit nothing{0, RLIM_INFINITY};
              ::setrlimit(RLIMIT_FSIZE, &nothing);
              std::promise<void> lifted;
              std::promise<void> waits;
              std::promise<void> restored;
              bool is_refused = false;
              std::thread other{[&] {
                lifted.get_future().wait();
                const WithoutFileSizeLimit second{1};
                waits.set_value();
                restored.get_future().wait();
                is_refused = ::write(file.number(), "a", 1) < 0 && errno == EFBIG;
              }};
              std::optional<WithoutFileSizeLimit> first{std::in_place, 1};
              lifted.set_value();
              waits.get_future().wait();
              first.reset();
              restored.set_value();
              other.join();
              return is_refused ? 0 : 1;
            }),
            &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(FileSizeLimit, stays_for_other_threads_and_what_they_fork_where_a_write_does_not_exceed_it) {
  EXPECT_EQ(tests::in_child([] {
              const rlimit limit{1000, RLIM_INFINITY};
              ::setrlimit(RLIMIT_FSIZE, &limit);
              const auto limit_for_a_write_to = [](std::uint64_t end) {
                const WithoutFileSizeLimit writes{end};
                rlimit now{};
                ::getrlimit(RLIMIT_FSIZE, &now);
                return now.rlim_cur;
              };
              return limit_for_a_write_to(1000) == 1000 && limit_for_a_write_to(1001) == RLIM_INFINITY ? 0 : 1;
            }),
            0);
}

/// Files of a folder of which the older ones are removed; each is older than the one before.
class OldLineFiles : public LineFiles {
protected:
  void make(const std::string& name) {
    folder_.make_folder("logs");
    folder_.write("logs/" + name, "", 0600);
    time_ -= std::chrono::seconds{10};
    std::filesystem::last_write_time(folder_.path() + "/logs/" + name, time_);
  }

  [[nodiscard]] std::set<std::string> names() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator{folder_.path() + "/logs"}) {
      names.insert(entry.path().filename());
    }
    return names;
  }

  std::filesystem::file_time_type time_ = std::filesystem::file_time_type::clock::now();
};

using Names = std::set<std::string>;

TEST_F(OldLineFiles, stay_if_they_have_another_name_or_are_no_regular_files) {
  for (const std::string name : {"own", "log-.txt", "log.txt", "log-a.tx", "og-a.txt", "xlog-a.txt", "log-a.txtx"}) {
    make(name);
  }
  const auto others = names();
  make("log-a.txt");
  std::filesystem::create_symlink(folder_.path() + "/logs/own", folder_.path() + "/logs/log-link.txt");
  std::filesystem::create_directory(folder_.path() + "/logs/log-folder.txt");
  LineFile{folder_.path() + "/logs", "own"}.remove_older("log-", ".txt", 1);
  auto expected = others;
  expected.insert({"log-link.txt", "log-folder.txt"});
  EXPECT_EQ(names(), expected);
  LineFile{folder_.path() + "/none", "own"}.remove_older("log-", ".txt", 1); // nothing to remove is no error
}

} // namespace

} // namespace gputest::os
