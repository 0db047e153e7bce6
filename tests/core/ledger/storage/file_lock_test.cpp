// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/storage/file_lock.hpp"

#include "core/os/file.hpp"
#include "core/os/process.hpp"
#include "core/os/test_status_page.hpp"
#include "support/close_files.hpp"
#include "support/in_child.hpp"
#include "support/message_of.hpp"
#include "support/private_folder.hpp"
#include "support/private_mount.hpp"
#include "support/refuse_call.hpp"

#include <gputest/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

namespace gputest::os {
namespace {

using tests::end_of;
using tests::in_child;
using tests::message_of;
using tests::start_child;

class FileLockTest : public ::testing::Test {
protected:
  FileLockTest() { std::ofstream{path_}.close(); }

  /// Whether another process could take the lock now.
  [[nodiscard]] bool is_free() const {
    return in_child([this] {
             struct flock lock {};
             lock.l_type = F_WRLCK;
             lock.l_whence = SEEK_SET;
             return ::fcntl(::open(path_.c_str(), O_RDWR), F_SETLK, &lock) == 0 ? 1 : 0;
           }) == 1;
  }

  tests::PrivateFolder folder_;
  std::string path_ = folder_.path() + "/mutex";
};

TEST_F(FileLockTest, keeps_other_processes_out_until_it_is_unlocked) {
  FileLock lock{path_};
  EXPECT_TRUE(is_free());
  lock.lock();
  EXPECT_FALSE(is_free());
  lock.unlock();
  EXPECT_TRUE(is_free());
}

TEST_F(FileLockTest, is_not_kept_by_a_forked_child) {
  FileLock lock{path_};
  std::array<int, 2> end{};
  ASSERT_EQ(::pipe(end.data()), 0);
  lock.lock();
  const pid_t child = start_child([&] {
    ::close(end[1]);
    char nothing = 0;
    return ::read(end[0], &nothing, 1) == 0 ? 0 : 1;
  });
  lock.unlock();
  EXPECT_TRUE(is_free());
  ::close(end[0]);
  ::close(end[1]);
  EXPECT_EQ(end_of(child), 0);
}

TEST_F(FileLockTest, of_a_forked_child_is_its_own) {
  FileLock lock{path_};
  lock.lock();
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const pid_t child = start_child([&] {
    FileLock own{path_}; // of a file that its parent had locked when it forked
    static_cast<void>(!::write(pipe[1], "+", 1));
    const std::lock_guard guard{own};
    return 0;
  });
  char said = 0;
  EXPECT_EQ(::read(pipe[0], &said, 1), 1);
  lock.unlock();
  EXPECT_EQ(end_of(child), 0);
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST_F(FileLockTest, of_a_forked_child_is_not_kept_by_a_thread_that_only_its_parent_has) {
  FileLock lock{path_};
  std::promise<void> is_locked;
  std::promise<void> has_forked;
  std::thread thread{[&] {
    const std::lock_guard guard{lock};
    is_locked.set_value();
    has_forked.get_future().wait();
  }};
  is_locked.get_future().wait();
  const pid_t child = start_child([&] {
    const std::lock_guard guard{lock}; // when the parent's thread has unlocked it
    return 0;
  });
  has_forked.set_value();
  thread.join();
  EXPECT_EQ(end_of(child), 0);
}

TEST_F(FileLockTest, keeps_other_threads_out_even_with_another_object) {
  constexpr int rounds = 20000;
  FileLock first{path_};
  FileLock second{path_};
  int counter = 0; // the thread sanitizer complains about it, too, if the lock does not hold
  const auto count = [&](FileLock& lock) {
    for (int round = 0; round < rounds; ++round) {
      const std::lock_guard guard{lock};
      ++counter;
    }
  };
  std::thread thread{[&] { count(first); }};
  count(second);
  thread.join();
  EXPECT_EQ(counter, 2 * rounds);
}

TEST_F(FileLockTest, survives_the_end_of_another_object_for_the_same_file) {
  FileLock lock{path_};
  auto other = std::make_unique<FileLock>(path_);
  lock.lock();
  other.reset();
  EXPECT_FALSE(is_free()) << "the kernel drops the lock with any descriptor of the file that is closed";
  lock.unlock();
}

TEST_F(FileLockTest, of_a_forked_child_survives_the_end_of_another_object_whatever_another_thread_opened_then) {
  FileLock lock{path_};
  std::atomic<bool> goes_on{true};
  std::thread thread{[&] {
    while (goes_on) {
      const FileLock other{folder_.path() + "/other", FileLock::IfMissing::make};
    }
  }};
  for (int forks = 0; forks < 20; ++forks) { // most of them while the thread opens it
    EXPECT_EQ(in_child([&] {
                const std::lock_guard guard{lock};
                { const FileLock same{path_}; }
                return is_free() ? 1 : 0;
              }),
              0);
  }
  goes_on = false;
  thread.join();
}

TEST_F(FileLockTest, whose_descriptor_was_closed_is_an_error_and_no_lock) {
  auto lock = std::make_unique<FileLock>(path_);
  lock->require_kept();
  EXPECT_GE(tests::close_files(path_), 0);
  const auto said = message_of<LedgerError>([&] { lock->lock(); });
  EXPECT_NE(said.find("which gputest keeps open for " + path_ + ", was closed by something else in this process; "),
            std::string::npos)
      << said;
  EXPECT_EQ(message_of<LedgerError>([&] { lock->require_kept(); }), said);
  EXPECT_EQ(message_of<LedgerError>([&] { FileLock{path_}.lock(); }), said) << "and no thread is left in it";
  lock.reset();
  FileLock again{path_};
  again.lock();
  EXPECT_FALSE(is_free());
  again.unlock();
}

/// The command of this process, and so of the children that it forks.
std::string own_command() {
  std::string command;
  for (const auto& word : command_line_of(own_pid())) {
    command += (command.empty() ? "" : " ") + word;
  }
  return command;
}

TEST_F(FileLockTest, kept_by_another_process_is_an_error_within_its_bound_that_names_the_holder_and_what_to_do) {
  const pid_t holder = tests::start_keeper([&] {
    auto held = std::make_unique<FileLock>(path_);
    held->lock();
    return held;
  });
  const std::string begin = "cannot lock " + path_ + " within 5 s, which is needed for microseconds: ";
  const pid_t in_container = start_child([&] { // meanwhile
    if (::unshare(CLONE_NEWPID) != 0) {
      return tests::may_not_mount;
    }
    return in_child([&] {
      const std::string said = message_of<LedgerError>([&] { FileLock{path_}.lock(); });
      EXPECT_EQ(said, begin + "a process of another container holds it; end that one");
      return ::testing::Test::HasFailure() ? 1 : 0;
    });
  });
  FileLock lock{path_};
  const TestStatusPage page;
  set_status_page_of_process(TestStatusPage::open(page.path()));
  EXPECT_EQ(message_of<LedgerError>([&] { lock.lock(); }), begin + "process " + std::to_string(holder) + " (" +
                                                               own_command() + ") holds it; end it (kill " +
                                                               std::to_string(holder) + ")");
  set_status_page_of_process(nullptr);
  EXPECT_GT(page.waited().count(), 0) << "it is no time of the test's";
  EXPECT_THAT(end_of(in_container), ::testing::AnyOf(0, tests::may_not_mount));
  ASSERT_EQ(::kill(holder, SIGSTOP), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(holder, &status, WUNTRACED), holder);
  const std::string stopped = message_of<LedgerError>([&] { lock.lock(); });
  EXPECT_NE(stopped.find(", stopped) holds it; continue it (kill -CONT " + std::to_string(holder) + ") or end it"),
            std::string::npos)
      << stopped;
  ::kill(holder, SIGKILL);
  end_of(holder);
  lock.lock();
  EXPECT_FALSE(is_free()) << "and it can be had afterwards";
  lock.unlock();
}

TEST_F(FileLockTest, kept_by_one_process_after_the_other_or_while_this_one_is_stopped_is_waited_for) {
  constexpr std::chrono::seconds more_than_half{FileLock::longest_wait / 2 + std::chrono::seconds{1}};
  const auto keep = [this](off_t byte, off_t bytes) {
    Descriptor file{::open(path_.c_str(), O_RDWR | O_CLOEXEC)};
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = byte;
    lock.l_len = bytes;
    EXPECT_EQ(::fcntl(file.number(), F_SETLK, &lock), 0);
    return file;
  };
  auto first = keep(0, 1); // part of what a lock needs: no moment in which nobody has any of it
  const pid_t second = tests::start_keeper([&] { return keep(1, 2); });
  const auto start_waiting = [this] {
    return start_child([this] {
      FileLock lock{path_};
      EXPECT_EQ(message_of<LedgerError>([&] { const std::lock_guard guard{lock}; }), "done");
      return ::testing::Test::HasFailure() ? 1 : 0;
    });
  };
  const pid_t waiting = start_waiting();
  const pid_t in_container = start_child([&] { // where both have the number 0
    return ::unshare(CLONE_NEWPID) == 0 ? end_of(start_waiting()) : tests::may_not_mount;
  });
  const pid_t stopped = start_waiting();
  std::this_thread::sleep_for(more_than_half);
  ::kill(stopped, SIGSTOP);
  first = Descriptor{};
  std::this_thread::sleep_for(more_than_half);
  ::kill(stopped, SIGCONT);
  ::kill(second, SIGKILL);
  end_of(second);
  EXPECT_EQ(end_of(waiting), 0);
  EXPECT_THAT(end_of(in_container), ::testing::AnyOf(0, tests::may_not_mount));
  EXPECT_EQ(end_of(stopped), 0);
}

TEST_F(FileLockTest, is_another_lock_each_time_as_others_see_it) {
  FileLock lock{path_};
  std::set<off_t> lengths;
  for (int time = 0; time < 2; ++time) {
    const std::lock_guard guard{lock};
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    EXPECT_EQ(in_child([&] {
                struct flock other {};
                other.l_type = F_WRLCK;
                other.l_whence = SEEK_SET;
                return ::fcntl(::open(path_.c_str(), O_RDWR), F_GETLK, &other) == 0 &&
                               ::write(pipe[1], &other.l_len, sizeof other.l_len) == sizeof other.l_len
                           ? 0
                           : 1;
              }),
              0);
    off_t length = 0;
    EXPECT_EQ(::read(pipe[0], &length, sizeof length), static_cast<ssize_t>(sizeof length));
    lengths.insert(length);
    ::close(pipe[0]);
    ::close(pipe[1]);
  }
  EXPECT_EQ(lengths.size(), 2U);
}

TEST_F(FileLockTest, kept_by_another_process_is_an_error_within_its_bound_where_the_kernel_does_not_say_by_which) {
  FileLock held{path_};
  const std::lock_guard guard{held};
  EXPECT_EQ(in_child([&] {
              EXPECT_TRUE(tests::refuse_call(SYS_fcntl, 1, F_GETLK, EINVAL));
              FileLock lock{path_};
              const auto said = message_of<LedgerError>([&] { lock.lock(); });
              EXPECT_NE(
                  said.find(" within 5 s, which is needed for microseconds: a process that cannot be named holds it, "
                            "because this system does not tell which one has a lock (F_GETLK); fuser " +
                            path_),
                  std::string::npos)
                  << said;
              EXPECT_EQ(lock.keeper(), "");
              return ::testing::Test::HasFailure() ? 1 : 0;
            }),
            0);
}

TEST_F(FileLockTest, whose_file_was_removed_or_replaced_says_so) {
  const FileLock lock{path_};
  EXPECT_FALSE(lock.is_removed());
  std::filesystem::remove(path_);
  EXPECT_TRUE(lock.is_removed());
  const FileLock next{path_, FileLock::IfMissing::make};
  EXPECT_TRUE(lock.is_removed());
  EXPECT_FALSE(next.is_removed());
}

TEST_F(FileLockTest, is_not_inherited_by_a_program_that_is_started) {
  const FileLock lock{path_};
  EXPECT_EQ(in_child([&] {
              const std::string look = "ls -l /proc/$$/fd | grep -q ' " + path_ + "$'";
              return ::execl("/bin/sh", "sh", "-c", look.c_str(), nullptr);
            }),
            1);
}

} // namespace
} // namespace gputest::os
