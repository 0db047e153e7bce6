#include "system/bell.hpp"

#include "support/in_child.hpp"
#include "support/message_of.hpp"
#include "support/private_folder.hpp"
#include "support/use_up_descriptors.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>

#include <array>
#include <chrono>
#include <stdexcept>
#include <utility>
#include <vector>

namespace gputest::system {
namespace {

using namespace std::chrono_literals;
using tests::end_of;
using tests::in_child;
using tests::message_of;
using tests::start_child;
using tests::start_keeper;

class BellTest : public ::testing::Test {
protected:
  BellTest() { Bell::create(path_); }

  /// A child that has the bell until it is killed.
  pid_t start_owner() {
    return start_keeper([&] {
      Bell bell = Bell::take(path_);
      if (!bell) {
        throw std::runtime_error{"somebody else has the bell"};
      }
      return bell;
    });
  }

  static bool is_ringing(const Bell& bell) {
    pollfd file{bell.number(), POLLIN, 0};
    return ::poll(&file, 1, 0) == 1 && (file.revents & POLLIN) != 0;
  }

  tests::PrivateFolder folder_;
  std::string path_ = folder_.path() + "/bell";
};

TEST_F(BellTest, has_one_owner_at_a_time) {
  Bell bell = Bell::take(path_);
  ASSERT_TRUE(bell);
  EXPECT_FALSE(Bell::take(path_));
  EXPECT_EQ(in_child([&] { return Bell::take(path_) ? 0 : 7; }), 7);
  bell = Bell{};
  EXPECT_TRUE(Bell::take(path_));
}

TEST_F(BellTest, rings_until_it_is_hushed) {
  const Bell bell = Bell::take(path_);
  EXPECT_FALSE(is_ringing(bell));
  ring(path_);
  ring(path_);
  EXPECT_TRUE(is_ringing(bell));
  wait(bell, {}, 1h);
  bell.hush();
  EXPECT_FALSE(is_ringing(bell));
}

TEST_F(BellTest, nobody_is_held_up_by_ringing_it) {
  ring(path_); // nobody has it
  const Bell bell = Bell::take(path_);
  EXPECT_FALSE(is_ringing(bell));
  for (int i = 0; i < 100000; ++i) { // more than a pipe holds
    ring(path_);
  }
  bell.hush();
  EXPECT_FALSE(is_ringing(bell));
}

TEST_F(BellTest, shows_whether_its_owner_lives) {
  const BellWatch watch{path_};
  EXPECT_FALSE(watch.owner_lives());
  const pid_t owner = start_owner();
  EXPECT_TRUE(watch.owner_lives());
  EXPECT_TRUE(watch.owner_lives()) << "looking changes nothing";
  ::kill(owner, SIGKILL);
  end_of(owner);
  EXPECT_FALSE(watch.owner_lives());
  EXPECT_TRUE(Bell::take(path_)) << "nor does it keep the bell";
}

TEST_F(BellTest, wakes_who_waits_when_its_owner_is_killed) {
  const std::string mine = folder_.path() + "/mine";
  Bell::create(mine);
  const Bell own = Bell::take(mine);
  const pid_t owner = start_owner();
  std::vector<BellWatch> watched;
  watched.emplace_back(path_);
  ASSERT_TRUE(watched.back().owner_lives());
  ::kill(owner, SIGKILL);
  wait(own, watched, 1h);
  end_of(owner);
  EXPECT_FALSE(watched.back().owner_lives());
}

TEST_F(BellTest, tells_what_has_woken_who_waits) {
  const std::string mine = folder_.path() + "/mine";
  const std::string other = folder_.path() + "/other";
  Bell::create(mine);
  Bell::create(other);
  const Bell own = Bell::take(mine);
  const Bell lives = Bell::take(other);
  const pid_t owner = start_owner();
  std::vector<BellWatch> watched;
  watched.emplace_back(other);
  watched.emplace_back(path_);
  const Woken by_nothing = wait(own, watched, 0ms);
  EXPECT_FALSE(by_nothing.rung);
  EXPECT_TRUE(by_nothing.ended.empty());
  ring(mine);
  const Woken by_a_ring = wait(own, watched, 1h);
  EXPECT_TRUE(by_a_ring.rung);
  EXPECT_TRUE(by_a_ring.ended.empty());
  own.hush();
  ::kill(owner, SIGKILL);
  const Woken by_an_end = wait(own, watched, 1h);
  EXPECT_FALSE(by_an_end.rung);
  EXPECT_EQ(by_an_end.ended, std::vector<std::size_t>{1});
  ring(mine);
  EXPECT_TRUE(wait(own, watched, 1h).rung) << "though the end goes on to be reported";
  end_of(owner);
}

TEST_F(BellTest, wakes_who_waits_only_when_the_last_child_of_its_owner_has_ended) {
  std::array<int, 2> pids{};
  ASSERT_EQ(::pipe(pids.data()), 0);
  const pid_t owner = start_child([&] {
    const Bell bell = Bell::take(path_);
    const pid_t child = start_keeper([] { return 0; });
    static_cast<void>(!::write(pids[1], &child, sizeof child));
    return bell ? 0 : 1;
  });
  pid_t child = 0;
  ASSERT_EQ(::read(pids[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  EXPECT_EQ(end_of(owner), 0);
  const std::string mine = folder_.path() + "/mine";
  Bell::create(mine);
  const Bell own = Bell::take(mine);
  std::vector<BellWatch> watched;
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

TEST_F(BellTest, goes_to_the_next_program_only_if_it_was_told_so) {
  // What holds the bell after exec() is the shell, which says so by the exit status of flock -n.
  const std::string look = "exec 9<>" + path_ + "; flock -n 9; exit $?";
  const auto run = [&](bool inherited) {
    return in_child([&] {
      const Bell bell = Bell::take(path_);
      if (inherited) {
        bell.inherit_across_exec();
      }
      ::execl("/bin/sh", "sh", "-c", look.c_str(), nullptr);
      return 125;
    });
  };
  EXPECT_EQ(run(true), 1) << "taken";
  EXPECT_EQ(run(false), 0) << "free";
}

TEST_F(BellTest, is_rung_by_a_process_that_has_no_descriptor_left) {
  const std::string mine = folder_.path() + "/mine";
  Bell::create(mine);
  const Bell rung = Bell::take(path_);
  EXPECT_EQ(in_child([&] {
              const Bell own = Bell::take(mine);
              tests::use_up_descriptors();
              ring(path_);
              if (::open("/dev/null", O_RDONLY) >= 0) {
                return 1; // there was one left
              }
              ring(path_); // has it kept one back again?
              return 0;
            }),
            0);
  std::array<char, 8> rings{};
  EXPECT_EQ(::read(rung.number(), rings.data(), rings.size()), 2);
}

TEST_F(BellTest, that_cannot_be_rung_is_an_error) {
  EXPECT_EQ(message_of<CannotRing>([&] { ring(folder_.path() + "/none"); }),
            "cannot wake the owner of " + folder_.path() + "/none: No such file or directory");
  EXPECT_EQ(in_child([&] {
              const Bell own = Bell::take(path_);
              const std::size_t opened = tests::use_up_descriptors().size();
              for (int number = 0; number < 256; ++number) { // a test that closes what is not its own
                if (number != own.number() && FileIdentity::of(number) == FileIdentity::at(path_)) {
                  ::close(number);
                }
              }
              if (opened == 0 || tests::use_up_descriptors().size() != 1) {
                return 1; // what it closed is not the one that was kept back
              }
              const auto said = message_of<CannotRing>([&] { ring(path_); });
              return said.find("Too many open files (this process has all 256") != std::string::npos ? 0 : 2;
            }),
            0);
}

TEST_F(BellTest, that_was_closed_or_is_another_file_now_is_an_error_and_is_not_read) {
  const std::string other = folder_.path() + "/other";
  Bell::create(other);
  const Descriptor others{::open(other.c_str(), O_RDWR | O_NONBLOCK)};
  {
    const Bell bell = Bell::take(path_);
    bell.require_kept();
    const int number = bell.number();
    ::close(number);
    const std::string said = "which gputest keeps open for " + path_ + ", was closed";
    EXPECT_NE(message_of<LedgerError>([&] { bell.require_kept(); }).find(said), std::string::npos);
    EXPECT_NE(message_of<LedgerError>([&] { bell.hush(); }).find(said), std::string::npos);
    EXPECT_NE(message_of<LedgerError>([&] { bell.inherit_across_exec(); }).find(said), std::string::npos);
    ASSERT_EQ(::dup2(others.number(), number), number);
    ASSERT_EQ(::write(others.number(), "+", 1), 1);
    EXPECT_THROW(bell.hush(), LedgerError);
  }
  char said = 0;
  EXPECT_EQ(::read(others.number(), &said, 1), 1) << "what is the other one's was not read";
}

TEST_F(BellTest, that_is_a_regular_file_is_refused) {
  const std::string file = folder_.path() + "/file";
  folder_.write("file", "", 0666);
  const std::string said = file + " is not a FIFO, as a bell must be; when no GPU test is running, remove its folder";
  EXPECT_EQ(message_of<LedgerError>([&] { Bell::take(file); }), said);
  EXPECT_EQ(message_of<LedgerError>([&] { BellWatch{file}; }), said);
}

TEST_F(BellTest, that_cannot_be_made_or_opened_is_an_error_that_names_it) {
  const std::string missing = folder_.path() + "/none/bell";
  EXPECT_EQ(message_of<LedgerError>([&] { Bell::create(path_); }), "cannot create " + path_ + ": File exists");
  EXPECT_EQ(message_of<LedgerError>([&] { Bell::take(missing); }),
            "cannot open " + missing + ": No such file or directory");
  EXPECT_EQ(message_of<LedgerError>([&] { BellWatch{missing}; }),
            "cannot watch " + missing + ": No such file or directory");
}

} // namespace
} // namespace gputest::system
