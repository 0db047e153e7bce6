// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/slot_fifos.hpp"

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

namespace gputest::os {
namespace {

using namespace std::chrono_literals;
using tests::in_child;
using tests::message_of;

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

TEST_F(WakeFifoTest, is_drained_of_any_number_of_notifies) {
  const WakeFifo fifo{path_};
  for (const int count : {1, 255, 256, 257, 512, 600}) {
    for (int i = 0; i < count; ++i) {
      notify(path_);
    }
    fifo.drain();
    EXPECT_FALSE(fifo.is_notified()) << count;
  }
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
  const WakeFifo own{path_ + "2"};
  EXPECT_FALSE(own.is_notified());
}

TEST_F(WakeFifoTest, that_was_closed_or_is_another_file_now_is_an_error_and_is_not_read) {
  const std::string other = folder_.path() + "/other";
  make(other);
  const Descriptor others{::open(other.c_str(), O_RDWR | O_NONBLOCK)};
  {
    const WakeFifo fifo{path_};
    fifo.require_kept();
    const int number = fifo.number();
    ::close(number);
    const std::string said = "which gputest keeps open for " + path_ + ", was closed";
    EXPECT_NE(message_of<LedgerError>([&] { fifo.require_kept(); }).find(said), std::string::npos);
    EXPECT_NE(message_of<LedgerError>([&] { fifo.drain(); }).find(said), std::string::npos);
    EXPECT_NE(message_of<LedgerError>([&] { static_cast<void>(fifo.is_notified()); }).find(said), std::string::npos);
    EXPECT_NE(message_of<LedgerError>([&] { wait(fifo, {}, 1h); }).find(said), std::string::npos);
    ASSERT_EQ(::dup2(others.number(), number), number);
    ASSERT_EQ(::write(others.number(), "+", 1), 1);
    EXPECT_THROW(fifo.drain(), LedgerError);
  }
  char said = 0;
  EXPECT_EQ(::read(others.number(), &said, 1), 1) << "what is the other one's was not read";
}

} // namespace
} // namespace gputest::os
