// SPDX-License-Identifier: BSD-3-Clause
#include "workers/worker_message.hpp"

#include "core/os/kept_descriptor.hpp"
#include "core/os/process.hpp"
#include "support/in_child.hpp"
#include "workers/worker_channel.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace gputest::workers {
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

TEST_F(WorkerMessages, arrive_with_all_that_they_say) {
  WorkerMessage sent;
  sent.kind = WorkerMessage::Kind::death;
  sent.code = -9;
  sent.cases_before = 3'000'000'000U;
  sent.device = WorkerMessage::Device::has_sticky_error;
  sent.mps_server = mps_server_of_user;
  sent.texts = {"", "one", "", "two", ""};
  ASSERT_TRUE(send_message(ends_[0], sent, {ends_[1], ends_[0], ends_[1], ends_[0]}));
  WorkerMessage message;
  message.texts = {"of the message before"};
  message.descriptors.emplace_back(::dup(ends_[0]));
  ASSERT_EQ(receive_message(ends_[1], message), Received::message);
  EXPECT_EQ(message.kind, sent.kind);
  EXPECT_EQ(message.code, sent.code);
  EXPECT_EQ(message.cases_before, sent.cases_before);
  EXPECT_EQ(message.device, sent.device);
  EXPECT_EQ(message.mps_server, sent.mps_server);
  EXPECT_EQ(message.texts, sent.texts);
  ASSERT_EQ(message.descriptors.size(), 4U);
  const auto is_end = [&](std::size_t which, int end) {
    return *os::FileIdentity::of(message.descriptors[which].number()) == *os::FileIdentity::of(end);
  };
  EXPECT_TRUE(is_end(0, ends_[1]));
  EXPECT_TRUE(is_end(1, ends_[0]));
  EXPECT_TRUE(is_end(2, ends_[1]));
  EXPECT_TRUE(is_end(3, ends_[0]));
  for (const auto& descriptor : message.descriptors) {
    EXPECT_EQ(::fcntl(descriptor.number(), F_GETFD), FD_CLOEXEC) << "no program that is started meanwhile has it";
  }
}

TEST_F(WorkerMessages, are_an_end_if_the_other_side_is_gone_or_no_gputest) {
  const auto received = [&](const std::string& packet) {
    EXPECT_EQ(::send(ends_[0], packet.data(), packet.size(), 0), static_cast<ssize_t>(packet.size()));
    WorkerMessage message;
    return receive_message(ends_[1], message, false);
  };
  const std::string head(20, '\0');
  const std::string two_texts("\2\0\0\0", 4);
  EXPECT_EQ(received(head), Received::end) << "less than a head";
  EXPECT_EQ(received(head + two_texts), Received::end);
  EXPECT_EQ(received(head + two_texts + "one" + '\0'), Received::end);
  EXPECT_EQ(received(head + two_texts + "one" + '\0' + "not ended"), Received::end);
  EXPECT_EQ(received(head + two_texts + "one" + '\0' + "two" + '\0'), Received::message);
  EXPECT_EQ(received(head + std::string(4, '\0') + std::string(192 * 1024 - 23, 'x')), Received::end)
      << "more than a message can have";
  WorkerMessage message;
  EXPECT_EQ(receive_message(ends_[1], message, false), Received::nothing);
  ::shutdown(ends_[1], SHUT_RDWR);
  EXPECT_EQ(receive_message(ends_[1], message), Received::end);
  EXPECT_FALSE(send(1)) << "and no SIGPIPE";
  EXPECT_EQ(receive_message(-1, message, false), Received::end);
}

} // namespace
} // namespace gputest::workers
