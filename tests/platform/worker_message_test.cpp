// SPDX-License-Identifier: BSD-3-Clause
#include "platform/worker_message.hpp"

#include "platform/worker_channel.hpp"
#include "support/in_child.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace gputest::platform {
namespace {

class WorkerMessages : public ::testing::Test {
protected:
  WorkerMessages() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends_.data()), 0); }
  ~WorkerMessages() override {
    for (const int end : ends_) {
      ::close(end);
    }
  }

  [[nodiscard]] bool send(std::size_t bytes) const {
    WorkerMessage message;
    message.texts = {std::string(bytes, 'x'), "last"};
    return send_message(ends_[0], message);
  }

  std::array<int, 2> ends_{};
};

TEST_F(WorkerMessages, arrive_as_a_whole_or_are_not_sent) {
  EXPECT_TRUE(send(100'000));
  WorkerMessage message;
  ASSERT_EQ(receive_message(ends_[1], message), Received::message);
  ASSERT_EQ(message.texts.size(), 2U);
  EXPECT_EQ(message.texts[0], std::string(100'000, 'x'));
  EXPECT_EQ(message.texts[1], "last");
  EXPECT_FALSE(send(192 * 1024)) << "with what else is in it";
  EXPECT_EQ(receive_message(ends_[1], message, false), Received::nothing);
}

TEST_F(WorkerMessages, are_an_end_if_not_all_descriptors_can_be_received) {
  const auto received_with_room_for = [&](int descriptors) {
    WorkerMessage sent;
    sent.texts = {"text"};
    EXPECT_TRUE(send_message(ends_[0], sent, {ends_[0], ends_[1]}));
    return tests::in_child([&] {
      const int first_free = ::dup(ends_[0]);
      ::close(first_free);
      rlimit limit{};
      ::getrlimit(RLIMIT_NOFILE, &limit);
      limit.rlim_cur = static_cast<rlim_t>(first_free + descriptors);
      ::setrlimit(RLIMIT_NOFILE, &limit);
      WorkerMessage message;
      return static_cast<int>(receive_message(ends_[1], message, false));
    });
  };
  EXPECT_EQ(received_with_room_for(2), static_cast<int>(Received::message));
  EXPECT_EQ(received_with_room_for(1), static_cast<int>(Received::end));
}

TEST_F(WorkerMessages, do_not_come_by_a_standard_stream) {
  const auto opens = [&](int number) {
    return tests::in_child([&] {
      ::dup2(ends_[0], number);
      const auto text = std::to_string(worker_protocol) + ":" + std::to_string(number) + ":1";
      return WorkerChannel::open(text) ? 1 : 0;
    });
  };
  EXPECT_EQ(opens(STDIN_FILENO), 0);
  EXPECT_EQ(opens(100), 1);
}

} // namespace
} // namespace gputest::platform
