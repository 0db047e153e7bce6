// SPDX-License-Identifier: BSD-3-Clause
#include "workers/worker_channel.hpp"

#include "core/os/kept_descriptor.hpp"
#include "support/in_child.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace gputest::workers {
namespace {

using Kind = WorkerMessage::Kind;
using Strings = std::vector<std::string>;

bool is_same(int a, int b) { return *os::FileIdentity::of(a) == *os::FileIdentity::of(b); }

class WorkerChannels : public ::testing::Test {
protected:
  WorkerChannels() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends.data()), 0);
    keeper_ = os::Descriptor{ends[0]};
    workers_ = ends[1];
    EXPECT_EQ(::pipe2(pipe_.data(), O_CLOEXEC), 0);
    channel_ = WorkerChannel::open(text(":7"));
  }
  ~WorkerChannels() override {
    for (const int end : pipe_) {
      ::close(end);
    }
  }

  /// The value of GPUTEST_WORKER, with this behind the socket's number.
  [[nodiscard]] std::string text(const std::string& rest) const {
    return std::to_string(worker_protocol) + ":" + std::to_string(workers_) + rest;
  }

  /// What the worker has said last.
  [[nodiscard]] WorkerMessage said() const {
    WorkerMessage message;
    EXPECT_EQ(receive_message(keeper_.number(), message, false), Received::message);
    return message;
  }

  void send_job(const Strings& texts, std::size_t streams = 3, Kind kind = Kind::job) const {
    WorkerMessage job;
    job.kind = kind;
    job.texts = texts;
    const std::vector<int> numbers{pipe_[0], pipe_[1], keeper_.number(), keeper_.number()};
    EXPECT_TRUE(send_message(keeper_.number(), job, {numbers.begin(), numbers.begin() + static_cast<long>(streams)}));
  }

  os::Descriptor keeper_;
  int workers_ = -1; ///< its end of the socket, which the channel closes
  std::array<int, 2> pipe_{};
  std::optional<WorkerChannel> channel_;
};

TEST_F(WorkerChannels, know_the_ctest_whose_cases_they_run_and_whether_errors_are_shared) {
  ASSERT_TRUE(channel_);
  EXPECT_EQ(channel_->ctest(), 7);
  EXPECT_FALSE(channel_->shares_errors());
  EXPECT_EQ(::fcntl(workers_, F_GETFD), FD_CLOEXEC) << "no program that a case starts has it";
  const auto shared = [&](const std::string& rest) {
    return tests::in_child([&] {
      const auto channel = WorkerChannel::open(text(rest));
      return channel ? channel->ctest() + (channel->shares_errors() ? 100 : 0) : -1;
    });
  };
  EXPECT_EQ(shared(":8:shared"), 108);
  EXPECT_EQ(shared(":8:other"), 8);
  EXPECT_EQ(shared(""), 0);
}

TEST_F(WorkerChannels, are_none_for_another_version_or_what_is_no_socket_of_packets) {
  const auto opens = [&](const std::string& value) { return WorkerChannel::open(value).has_value(); };
  EXPECT_FALSE(opens(std::to_string(worker_protocol + 1) + ":" + std::to_string(workers_) + ":7"));
  EXPECT_FALSE(opens(std::to_string(worker_protocol)));
  EXPECT_FALSE(opens(std::to_string(worker_protocol) + ":"));
  EXPECT_FALSE(opens(""));
  const auto opens_number = [&](int number) {
    return opens(std::to_string(worker_protocol) + ":" + std::to_string(number) + ":7");
  };
  EXPECT_FALSE(opens_number(pipe_[0]));
  std::array<int, 2> stream{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, stream.data()), 0);
  EXPECT_FALSE(opens_number(stream[0]));
  ::close(stream[0]);
  ::close(stream[1]);
}

TEST_F(WorkerChannels, receive_a_case_with_its_variables_and_streams) {
  send_job({"Suite.case", "report.xml", "A=1", "B="});
  const auto job = channel_->receive(std::nullopt);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->filter, "Suite.case");
  EXPECT_EQ(job->report, "report.xml");
  EXPECT_EQ(job->variables, (Strings{"A=1", "B="}));
  ASSERT_EQ(job->streams.size(), 3U);
  EXPECT_TRUE(is_same(job->streams[0].number(), pipe_[0]));
  send_job({"Suite.case", ""});
  EXPECT_TRUE(channel_->receive(std::nullopt)) << "without variables";
}

TEST_F(WorkerChannels, receive_nothing_that_is_no_whole_case) {
  send_job({"Suite.case"});
  EXPECT_FALSE(channel_->receive(std::nullopt));
  send_job({"Suite.case", ""}, 2);
  EXPECT_FALSE(channel_->receive(std::nullopt));
  send_job({"Suite.case", ""}, 4);
  EXPECT_FALSE(channel_->receive(std::nullopt));
  send_job({"Suite.case", ""}, 3, Kind::verdict);
  EXPECT_FALSE(channel_->receive(std::nullopt));
  keeper_ = os::Descriptor{};
  EXPECT_FALSE(channel_->receive(std::nullopt)) << "the keeper is gone";
}

TEST_F(WorkerChannels, begin_no_case_when_they_are_to_leave) {
  send_job({"Suite.case", ""});
  EXPECT_TRUE(channel_->receive(pipe_[0])) << "nothing tells it to leave";
  send_job({"Suite.case", ""});
  ASSERT_EQ(::write(pipe_[1], "+", 1), 1);
  EXPECT_FALSE(channel_->receive(pipe_[0]));
}

TEST_F(WorkerChannels, give_a_case_its_streams_and_take_them_back) {
  std::array<int, 2> keepers{};
  ASSERT_EQ(::pipe2(keepers.data(), O_CLOEXEC), 0);
  send_job({"Suite.case", ""});
  EXPECT_EQ(tests::in_child([&] {
              ::dup2(keepers[1], STDERR_FILENO); // what it is started with
              const auto channel = WorkerChannel::open(text(":7"));
              const auto job = channel->receive(std::nullopt);
              channel->begin(*job);
              if (!is_same(STDIN_FILENO, pipe_[0]) || !is_same(STDOUT_FILENO, pipe_[1]) ||
                  !is_same(STDERR_FILENO, keeper_.number())) {
                return 1;
              }
              channel->drop_streams();
              const os::Descriptor null{::open("/dev/null", O_RDONLY)};
              return is_same(STDOUT_FILENO, keepers[1]) && is_same(STDERR_FILENO, keepers[1]) &&
                             is_same(STDIN_FILENO, null.number())
                         ? 0
                         : 2;
            }),
            0);
  EXPECT_EQ(said().kind, Kind::begun);
  ::close(keepers[0]);
  ::close(keepers[1]);
}

TEST_F(WorkerChannels, tell_a_verdict_with_why_it_was_the_last_if_it_was) {
  EXPECT_TRUE(channel_->tell_verdict(3, "", WorkerMessage::Device::works));
  auto message = said();
  EXPECT_EQ(message.kind, Kind::verdict);
  EXPECT_EQ(message.code, 3);
  EXPECT_EQ(message.device, WorkerMessage::Device::works);
  EXPECT_EQ(message.texts, Strings{});
  EXPECT_TRUE(channel_->tell_verdict(0, "it has left a thread", WorkerMessage::Device::not_begun));
  message = said();
  EXPECT_EQ(message.device, WorkerMessage::Device::not_begun);
  EXPECT_EQ(message.texts, Strings{"it has left a thread"});
  channel_->refuse("it has no process of its own");
  message = said();
  EXPECT_EQ(message.kind, Kind::refusal);
  EXPECT_EQ(message.texts, Strings{"it has no process of its own"});
}

} // namespace
} // namespace gputest::workers
