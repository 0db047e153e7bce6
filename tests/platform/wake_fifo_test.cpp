#include "platform/wake_fifo.hpp"

#include "support/in_child.hpp"
#include "support/message_of.hpp"
#include "support/private_folder.hpp"
#include "support/use_up_descriptors.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <utility>
#include <vector>

namespace gputest::platform {
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

  /// A child that has the wake-up FIFO until it is killed.
  pid_t start_owner() {
    return start_keeper([&] {
      WakeFifo fifo = WakeFifo::take(path_);
      if (!fifo) {
        throw std::runtime_error{"somebody else has the wake-up FIFO"};
      }
      return fifo;
    });
  }

  static bool is_notified(const WakeFifo& fifo) {
    pollfd file{fifo.number(), POLLIN, 0};
    return ::poll(&file, 1, 0) == 1 && (file.revents & POLLIN) != 0;
  }

  tests::PrivateFolder folder_;
  std::string path_ = folder_.path() + "/fifo";
};

TEST_F(WakeFifoTest, has_one_owner_at_a_time) {
  WakeFifo fifo = WakeFifo::take(path_);
  ASSERT_TRUE(fifo);
  EXPECT_FALSE(WakeFifo::take(path_));
  EXPECT_EQ(in_child([&] { return WakeFifo::take(path_) ? 0 : 7; }), 7);
  fifo = WakeFifo{};
  EXPECT_TRUE(WakeFifo::take(path_));
}

TEST_F(WakeFifoTest, notifies_until_it_is_drained) {
  const WakeFifo fifo = WakeFifo::take(path_);
  EXPECT_FALSE(is_notified(fifo));
  notify(path_);
  notify(path_);
  EXPECT_TRUE(is_notified(fifo));
  wait(fifo, {}, 1h);
  fifo.drain();
  EXPECT_FALSE(is_notified(fifo));
}

TEST_F(WakeFifoTest, nobody_is_held_up_by_notifying_it) {
  notify(path_); // nobody has it
  const WakeFifo fifo = WakeFifo::take(path_);
  EXPECT_FALSE(is_notified(fifo));
  for (int i = 0; i < 100000; ++i) { // more than a pipe holds
    notify(path_);
  }
  fifo.drain();
  EXPECT_FALSE(is_notified(fifo));
}

TEST_F(WakeFifoTest, shows_whether_its_owner_lives) {
  const LivenessWatch watch{path_};
  EXPECT_FALSE(watch.owner_lives());
  const pid_t owner = start_owner();
  EXPECT_TRUE(watch.owner_lives());
  EXPECT_TRUE(watch.owner_lives()) << "looking changes nothing";
  ::kill(owner, SIGKILL);
  end_of(owner);
  EXPECT_FALSE(watch.owner_lives());
  EXPECT_TRUE(WakeFifo::take(path_)) << "nor does it keep the wake-up FIFO";
}

TEST_F(WakeFifoTest, wakes_the_waiting_process_when_its_owner_is_killed) {
  const std::string mine = folder_.path() + "/mine";
  make(mine);
  const WakeFifo own = WakeFifo::take(mine);
  const pid_t owner = start_owner();
  std::vector<LivenessWatch> watched;
  watched.emplace_back(path_);
  ASSERT_TRUE(watched.back().owner_lives());
  ::kill(owner, SIGKILL);
  wait(own, watched, 1h);
  end_of(owner);
  EXPECT_FALSE(watched.back().owner_lives());
}

TEST_F(WakeFifoTest, reports_what_has_woken_the_waiting_process) {
  const std::string mine = folder_.path() + "/mine";
  const std::string other = folder_.path() + "/other";
  make(mine);
  make(other);
  const WakeFifo own = WakeFifo::take(mine);
  const WakeFifo lives = WakeFifo::take(other);
  const pid_t owner = start_owner();
  std::vector<LivenessWatch> watched;
  watched.emplace_back(other);
  watched.emplace_back(path_);
  const Woken by_nothing = wait(own, watched, 0ms);
  EXPECT_FALSE(by_nothing.notified);
  EXPECT_TRUE(by_nothing.ended.empty());
  notify(mine);
  const Woken by_a_notification = wait(own, watched, 1h);
  EXPECT_TRUE(by_a_notification.notified);
  EXPECT_TRUE(by_a_notification.ended.empty());
  own.drain();
  ::kill(owner, SIGKILL);
  const Woken by_an_end = wait(own, watched, 1h);
  EXPECT_FALSE(by_an_end.notified);
  EXPECT_EQ(by_an_end.ended, std::vector<std::size_t>{1});
  notify(mine);
  EXPECT_TRUE(wait(own, watched, 1h).notified) << "though the end goes on to be reported";
  end_of(owner);
}

TEST_F(WakeFifoTest, wakes_the_waiting_process_only_when_the_last_child_of_its_owner_has_ended) {
  std::array<int, 2> pids{};
  ASSERT_EQ(::pipe(pids.data()), 0);
  const pid_t owner = start_child([&] {
    const WakeFifo fifo = WakeFifo::take(path_);
    const pid_t child = start_keeper([] { return 0; });
    static_cast<void>(!::write(pids[1], &child, sizeof child));
    return fifo ? 0 : 1;
  });
  pid_t child = 0;
  ASSERT_EQ(::read(pids[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  EXPECT_EQ(end_of(owner), 0);
  const std::string mine = folder_.path() + "/mine";
  make(mine);
  const WakeFifo own = WakeFifo::take(mine);
  std::vector<LivenessWatch> watched;
  watched.emplace_back(path_);
  EXPECT_TRUE(watched.back().owner_lives());
  wait(own, watched, 0ms);
  EXPECT_TRUE(watched.back().owner_lives());
  ::kill(child, SIGKILL);
  wait(own, watched, 1h);
  // The child is not ours to wait for; the hang-up comes just after the lock is free, so that now it is.
  EXPECT_FALSE(watched.back().owner_lives());
  ::close(pids[0]);
  ::close(pids[1]);
}

TEST_F(WakeFifoTest, goes_to_the_next_program_only_if_it_was_told_so) {
  // What holds the wake-up FIFO after exec() is the shell, which says so by the exit status of flock -n.
  const std::string look = "exec 9<>" + path_ + "; flock -n 9; exit $?";
  const auto run = [&](bool inherited) {
    return in_child([&] {
      const WakeFifo fifo = WakeFifo::take(path_);
      if (inherited) {
        fifo.inherit_across_exec();
      }
      ::execl("/bin/sh", "sh", "-c", look.c_str(), nullptr);
      return 125;
    });
  };
  EXPECT_EQ(run(true), 1) << "taken";
  EXPECT_EQ(run(false), 0) << "free";
}

TEST_F(WakeFifoTest, is_notified_by_a_process_that_has_no_descriptor_left) {
  const std::string mine = folder_.path() + "/mine";
  make(mine);
  const WakeFifo notified = WakeFifo::take(path_);
  EXPECT_EQ(in_child([&] {
              const WakeFifo own = WakeFifo::take(mine);
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
              const WakeFifo own = WakeFifo::take(path_);
              tests::use_up_descriptors();
              for (int number = 0; number < 256; ++number) { // a test that closes what is not its own
                std::error_code ignored;
                if (std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(number), ignored) == "/") {
                  ::close(number);
                }
              }
              if (tests::use_up_descriptors().size() != 1) {
                return 1; // what it closed is not the one that was kept back
              }
              const auto said = message_of<CannotNotify>([&] { notify(path_); });
              return said.find("Too many open files (this process has all 256") != std::string::npos ? 0 : 2;
            }),
            0);
}

TEST_F(WakeFifoTest, writes_into_nothing_but_a_fifo_of_its_owner) {
  const std::string target = folder_.path() + "/target";
  folder_.write("target", "", 0600);
  const std::string place = folder_.path() + "/place";
  const auto put = [&](auto make_it) {
    std::filesystem::remove(place);
    make_it();
    return message_of<CannotNotify>([&] { notify(place); });
  };
  const auto link_to = [&](const std::string& to) { return [&, to] { std::filesystem::create_symlink(to, place); }; };
  const std::string begin = "cannot wake the owner of " + place + ": " + place + " ";
  const std::string end =
      "; when no GPU test is running, remove the ledger's folder, or set GPUTEST_DIR to another one";
  EXPECT_EQ(put(link_to(target)), begin + "is a symbolic link to " + target + ", and must be a FIFO" + end);
  EXPECT_EQ(put(link_to(path_)), begin + "is a symbolic link to " + path_ + ", and must be a FIFO" + end);
  EXPECT_EQ(put([&] { std::filesystem::create_hard_link(target, place); }),
            begin + "is a regular file, and must be a FIFO" + end);
  EXPECT_EQ(put([&] { std::filesystem::create_hard_link(path_, place); }),
            begin + "has 2 names (hard links), and must have one: it is not used" + end);
  EXPECT_EQ(std::filesystem::file_size(target), 0U);
  if (::geteuid() == 0) {
    const std::string other_users = put([&] {
      make(place);
      ASSERT_EQ(::chown(place.c_str(), 65534, 65534), 0);
    });
    EXPECT_EQ(
        other_users.find(begin + "belongs to nobody (uid 65534), and must belong to root (uid 0): it is not used"), 0U)
        << other_users;
  }
  WakeFifo own = WakeFifo::take(path_ + "2");
  EXPECT_FALSE(is_notified(own));
}

TEST_F(WakeFifoTest, that_is_not_there_is_made_when_it_is_taken_and_has_no_owner_when_it_is_watched) {
  const std::string missing = folder_.path() + "/missing";
  EXPECT_FALSE(LivenessWatch{missing}.owner_lives());
  EXPECT_TRUE(WakeFifo::take(folder_.path() + "/other"));
  const FileAt others{AT_FDCWD, folder_.path(), "none", 4000000, 0660};
  EXPECT_FALSE(LivenessWatch{others}.owner_lives());
  EXPECT_FALSE(std::filesystem::exists("none")) << "and is not made for another user";
}

TEST_F(WakeFifoTest, is_open_to_all_that_share_it_with_any_umask) {
  EXPECT_EQ(in_child([&] {
              ::umask(077);
              FileAt place{folder_.path() + "/shared"};
              place.mode = 0660;
              const WakeFifo fifo = WakeFifo::take(place);
              struct stat status {};
              return ::fstat(fifo.number(), &status) == 0 && (status.st_mode & 07777U) == 0660 ? 0 : 1;
            }),
            0);
}

TEST_F(WakeFifoTest, that_was_closed_or_is_another_file_now_is_an_error_and_is_not_read) {
  const std::string other = folder_.path() + "/other";
  make(other);
  const Descriptor others{::open(other.c_str(), O_RDWR | O_NONBLOCK)};
  {
    const WakeFifo fifo = WakeFifo::take(path_);
    fifo.require_kept();
    const int number = fifo.number();
    ::close(number);
    const std::string said = "which gputest keeps open for " + path_ + ", was closed";
    EXPECT_NE(message_of<LedgerError>([&] { fifo.require_kept(); }).find(said), std::string::npos);
    EXPECT_NE(message_of<LedgerError>([&] { fifo.drain(); }).find(said), std::string::npos);
    EXPECT_NE(message_of<LedgerError>([&] { fifo.inherit_across_exec(); }).find(said), std::string::npos);
    ASSERT_EQ(::dup2(others.number(), number), number);
    ASSERT_EQ(::write(others.number(), "+", 1), 1);
    EXPECT_THROW(fifo.drain(), LedgerError);
  }
  char said = 0;
  EXPECT_EQ(::read(others.number(), &said, 1), 1) << "what is the other one's was not read";
}

TEST_F(WakeFifoTest, that_is_a_regular_file_is_refused) {
  const std::string file = folder_.path() + "/file";
  folder_.write("file", "", 0666);
  const std::string said = file + " is a regular file, and must be a FIFO; when no GPU test is running, remove the "
                                  "ledger's folder, or set GPUTEST_DIR to another one";
  EXPECT_EQ(message_of<LedgerError>([&] { WakeFifo::take(file); }), said);
  EXPECT_EQ(message_of<LedgerError>([&] { LivenessWatch{file}; }), said);
}

TEST_F(WakeFifoTest, that_cannot_be_made_is_an_error_that_names_it) {
  const std::string missing = folder_.path() + "/none/fifo";
  EXPECT_EQ(message_of<LedgerError>([&] { WakeFifo::take(missing); }),
            "cannot open " + missing + ": No such file or directory");
}

} // namespace
} // namespace gputest::platform
