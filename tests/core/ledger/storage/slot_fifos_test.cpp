// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/storage/slot_fifos.hpp"

#include "support/close_files.hpp"
#include "support/in_child.hpp"
#include "support/message_of.hpp"
#include "support/private_folder.hpp"
#include "support/use_up_descriptors.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <vector>

namespace gputest::os {
namespace {

using namespace std::chrono_literals;
using tests::end_of;
using tests::in_child;
using tests::message_of;
using tests::start_child;
using tests::start_keeper;

class WakeFifoTest : public ::testing::Test {
protected:
  WakeFifoTest() { make(path_); }

  static void make(const std::string& path) { ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0); }

  tests::PrivateFolder folder_;
  std::string path_ = folder_.path() + "/fifo";
};

TEST_F(WakeFifoTest, says_whether_it_is_notified_until_it_is_drained) {
  const WakeFifo fifo{path_};
  EXPECT_FALSE(fifo.is_notified());
  notify(path_);
  EXPECT_TRUE(fifo.is_notified());
  EXPECT_TRUE(fifo.is_notified()) << "looking takes nothing away";
  fifo.drain();
  EXPECT_FALSE(fifo.is_notified());
  EXPECT_EQ(fifo.path(), path_);
}

TEST_F(WakeFifoTest, of_another_user_that_has_removed_or_replaced_it_wakes_nobody_and_is_no_error) {
  const auto others = [&](const std::string& name) { return FileAt{AT_FDCWD, folder_.path(), name, 4000000, 0660}; };
  notify(others(folder_.path() + "/none"));
  folder_.write("file", "", 0666);
  notify(others(folder_.path() + "/file"));
  EXPECT_EQ(std::filesystem::file_size(folder_.path() + "/file"), 0U);
  const WakeFifo own{path_};
  notify(others(path_)); // this user's in the other one's place
  EXPECT_FALSE(own.is_notified());
}

TEST_F(WakeFifoTest, nobody_is_held_up_by_notifying_it) {
  notify(path_); // nobody has it
  const WakeFifo fifo{path_};
  EXPECT_FALSE(fifo.is_notified());
  for (int i = 0; i < 100000; ++i) { // more than a pipe holds
    notify(path_);
  }
  fifo.drain();
  EXPECT_FALSE(fifo.is_notified());
}

TEST_F(WakeFifoTest, is_notified_by_a_process_that_has_no_descriptor_left) {
  const std::string mine = folder_.path() + "/mine";
  make(mine);
  const WakeFifo notified{path_};
  EXPECT_EQ(in_child([&] {
              const WakeFifo own{mine};
              tests::use_up_descriptors();
              notify(path_);
              if (::open("/dev/null", O_RDONLY) >= 0) {
                return 1; // there was one left
              }
              notify(path_); // has it kept one back again?
              return 0;
            }),
            0);
  std::array<char, 8> rings{};
  EXPECT_EQ(::read(notified.number(), rings.data(), rings.size()), 2);
}

TEST_F(WakeFifoTest, that_cannot_be_notified_is_an_error) {
  EXPECT_EQ(message_of<CannotNotify>([&] { notify(folder_.path() + "/none"); }),
            "cannot wake the owner of " + folder_.path() + "/none: No such file or directory");
  EXPECT_EQ(in_child([&] {
              const WakeFifo own{path_};
              tests::use_up_descriptors();
              tests::close_files("/"); // a test that closes what is not its own
              if (tests::use_up_descriptors().size() != 1) {
                return 1; // what it closed is not the one that was kept back
              }
              const auto said = message_of<CannotNotify>([&] { notify(path_); });
              return said.find("Too many open files (this process has all 256") != std::string::npos ? 0 : 2;
            }),
            0);
}

class LivenessFifoTest : public ::testing::Test {
protected:
  /// A child that has the FIFO until it is killed.
  pid_t start_owner() {
    return start_keeper([&] {
      LivenessFifo fifo = LivenessFifo::take(path_);
      if (!fifo) {
        throw std::runtime_error{"somebody else has the FIFO"};
      }
      return fifo;
    });
  }

  tests::PrivateFolder folder_;
  std::string path_ = folder_.path() + "/alive";
  std::string mine_ = folder_.path() + "/mine"; ///< this process's wake-up FIFO
};

TEST_F(LivenessFifoTest, has_one_owner_at_a_time) {
  LivenessFifo fifo = LivenessFifo::take(path_);
  ASSERT_TRUE(fifo);
  EXPECT_FALSE(LivenessFifo::take(path_));
  EXPECT_EQ(in_child([&] { return LivenessFifo::take(path_) ? 0 : 7; }), 7);
  fifo = LivenessFifo{};
  EXPECT_TRUE(LivenessFifo::take(path_));
}

TEST_F(LivenessFifoTest, shows_whether_its_owner_lives) {
  const LivenessWatch watch{path_};
  EXPECT_FALSE(watch.owner_lives());
  const pid_t owner = start_owner();
  EXPECT_TRUE(watch.owner_lives());
  EXPECT_TRUE(watch.owner_lives()) << "looking changes nothing";
  ::kill(owner, SIGKILL);
  end_of(owner);
  EXPECT_FALSE(watch.owner_lives());
  EXPECT_TRUE(LivenessFifo::take(path_)) << "nor does it keep the FIFO";
}

TEST_F(LivenessFifoTest, reports_what_has_woken_the_waiting_process) {
  const std::string other = folder_.path() + "/other";
  const WakeFifo own{mine_};
  const LivenessFifo lives = LivenessFifo::take(other);
  const pid_t owner = start_owner();
  std::vector<LivenessWatch> watched;
  watched.emplace_back(other);
  watched.emplace_back(path_);
  const Woken by_nothing = wait(own, watched, 0ms);
  EXPECT_FALSE(by_nothing.notified);
  EXPECT_TRUE(by_nothing.ended.empty());
  notify(mine_);
  const Woken by_a_notification = wait(own, watched, 1h);
  EXPECT_TRUE(by_a_notification.notified);
  EXPECT_TRUE(by_a_notification.ended.empty());
  own.drain();
  ::kill(owner, SIGKILL);
  const Woken by_an_end = wait(own, watched, 1h);
  EXPECT_FALSE(by_an_end.notified);
  EXPECT_EQ(by_an_end.ended, std::vector<std::size_t>{1});
  notify(mine_);
  EXPECT_TRUE(wait(own, watched, 1h).notified) << "though the end goes on to be reported";
  end_of(owner);
}

TEST_F(LivenessFifoTest, wakes_the_waiting_process_only_when_the_last_child_of_its_owner_has_ended) {
  std::array<int, 2> pids{};
  ASSERT_EQ(::pipe(pids.data()), 0);
  const pid_t owner = start_child([&] {
    const LivenessFifo fifo = LivenessFifo::take(path_);
    const pid_t child = start_keeper([] { return 0; });
    static_cast<void>(!::write(pids[1], &child, sizeof child));
    return fifo ? 0 : 1;
  });
  pid_t child = 0;
  ASSERT_EQ(::read(pids[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  EXPECT_EQ(end_of(owner), 0);
  const WakeFifo own{mine_};
  std::vector<LivenessWatch> watched;
  watched.emplace_back(path_);
  EXPECT_TRUE(watched.back().owner_lives());
  wait(own, watched, 0ms);
  EXPECT_TRUE(watched.back().owner_lives());
  ::kill(child, SIGKILL);
  wait(own, watched, 1h);
  EXPECT_FALSE(watched.back().owner_lives());
  ::close(pids[0]);
  ::close(pids[1]);
}

TEST_F(LivenessFifoTest, goes_to_the_next_program_only_if_it_was_told_so) {
  // What has the FIFO after exec() is the shell, which says so by its exit status.
  const std::string look = "ls -l /proc/$$/fd | grep -q ' " + path_ + "$'";
  const auto run = [&](bool inherited) {
    return in_child([&] {
      LivenessFifo fifo = LivenessFifo::take(path_);
      if (inherited) {
        fifo.inherit_across_exec();
      }
      ::execl("/bin/sh", "sh", "-c", look.c_str(), nullptr);
      return 125;
    });
  };
  EXPECT_EQ(run(true), 0) << "kept";
  EXPECT_EQ(run(false), 1) << "closed";
}

TEST_F(LivenessFifoTest, is_not_waited_for_where_nobody_has_ever_been) {
  const WakeFifo own{mine_};
  std::vector<LivenessWatch> watched;
  watched.emplace_back(FileAt::nothing());
  EXPECT_EQ(watched.back().number(), -1);
  EXPECT_TRUE(wait(own, watched, 0ms).ended.empty());
}

TEST_F(LivenessFifoTest, that_is_not_there_has_no_owner_and_is_made_when_it_is_taken) {
  const std::string missing = folder_.path() + "/missing";
  EXPECT_FALSE(owner_lives(missing));
  EXPECT_TRUE(LivenessFifo::take(folder_.path() + "/other"));
  const FileAt others{AT_FDCWD, folder_.path(), "none", 4000000, 0660};
  EXPECT_FALSE(owner_lives(others));
  EXPECT_FALSE(LivenessWatch{others}.owner_lives());
  EXPECT_FALSE(std::filesystem::exists("none")) << "and is not made for another user";
  EXPECT_FALSE(owner_lives(FileAt::nothing()));
  const std::string in_no_folder = folder_.path() + "/none/alive";
  EXPECT_EQ(message_of<LedgerError>([&] { static_cast<void>(owner_lives(in_no_folder)); }),
            "cannot watch " + in_no_folder + ": No such file or directory")
      << "of a ledger that was removed nobody can say who lives";
}

} // namespace
} // namespace gputest::os
