// SPDX-License-Identifier: BSD-3-Clause
#include "workers/worker_message.hpp"

#include "workers/worker_channel.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace gputest::workers {
namespace {

class WorkerMessages : public ::testing::Test {
protected:
  WorkerMessages() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
    one_ = os::Descriptor{ends[0]};
    other_ = os::Descriptor{ends[1]};
  }

  os::Descriptor one_;
  os::Descriptor other_;
};

TEST_F(WorkerMessages, arrive_as_a_whole_with_all_that_they_say_or_are_not_sent) {
  WorkerMessage sent;
  sent.kind = WorkerMessage::Kind::death;
  sent.code = -9;
  sent.device = WorkerMessage::Device::has_sticky_error;
  sent.mps = Mps::of_user;
  sent.texts = {"", std::string(100'000, 'x'), "", "two", ""};
  ASSERT_TRUE(send_message(one_.number(), sent, {other_.number(), one_.number()}));
  WorkerMessage message;
  message.texts = {"of the message before"};
  ASSERT_EQ(receive_message(other_.number(), message), Received::message);
  EXPECT_EQ(message.kind, sent.kind);
  EXPECT_EQ(message.code, sent.code);
  EXPECT_EQ(message.device, sent.device);
  EXPECT_EQ(message.mps, sent.mps);
  EXPECT_EQ(message.texts, sent.texts);
  ASSERT_EQ(message.descriptors.size(), 2U);
  for (const auto& descriptor : message.descriptors) {
    EXPECT_EQ(::fcntl(descriptor.number(), F_GETFD), FD_CLOEXEC) << "no program that is started meanwhile has it";
  }
  sent.texts = {std::string(192 * 1024, 'x')};
  EXPECT_FALSE(send_message(one_.number(), sent)) << "with what else is in it";
  EXPECT_EQ(receive_message(other_.number(), message, false), Received::nothing);
}

TEST_F(WorkerMessages, are_an_end_if_the_other_side_is_gone_or_no_gputest) {
  WorkerMessage message;
  const std::string head(16, '\0');
  const std::string two_texts("\2\0\0\0", 4);
  for (const auto& packet :
       {head, head + two_texts, head + two_texts + "one" + '\0' + "not ended", std::string(192 * 1024 + 1, '\0')}) {
    EXPECT_EQ(::send(one_.number(), packet.data(), packet.size(), 0), static_cast<ssize_t>(packet.size()));
    EXPECT_EQ(receive_message(other_.number(), message), Received::end) << packet.size();
  }
  other_ = os::Descriptor{};
  EXPECT_EQ(receive_message(one_.number(), message), Received::end);
  EXPECT_FALSE(send_message(one_.number(), message)) << "and no SIGPIPE";
}

TEST_F(WorkerMessages, come_from_a_supervisor_of_the_same_version_alone) {
  const auto opens = [](int version, int number) {
    return WorkerChannel::open(std::to_string(version) + ":" + std::to_string(number) + ":7").has_value();
  };
  EXPECT_FALSE(opens(worker_protocol + 1, one_.number()));
  EXPECT_FALSE(opens(worker_protocol, os::Descriptor{::open("/dev/null", O_RDWR | O_CLOEXEC)}.number()));
  EXPECT_FALSE(WorkerChannel::open(""));
  EXPECT_TRUE(opens(worker_protocol, ::dup(one_.number())));
}

} // namespace
} // namespace gputest::workers
