// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/program_output.hpp"

#include "support/in_child.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::os {
namespace {

TEST(ProgramOutput, is_all_that_the_program_writes) {
  EXPECT_EQ(output_of({"/bin/echo", "two words", ""}), "two words \n");
  EXPECT_EQ(output_of({"/bin/sh", "-c", "head -c 300000 /dev/zero; echo error >&2"})->size(), 300000U);
}

TEST(ProgramOutput, is_none_of_a_program_that_fails_or_is_not_there) {
  EXPECT_EQ(output_of({"/bin/sh", "-c", "echo text; exit 3"}), std::nullopt);
  EXPECT_EQ(output_of({"/bin/sh", "-c", "kill -9 $$"}), std::nullopt);
  EXPECT_EQ(output_of({"/no/such/program"}), std::nullopt);
  EXPECT_EQ(output_of({}), std::nullopt);
}

/// The number that the next descriptor gets: another one if anything was left open.
int next_descriptor() {
  const int next = ::dup(STDERR_FILENO);
  ::close(next);
  return next;
}

bool has_child() { return ::waitid(P_ALL, 0, nullptr, WEXITED | WNOHANG | WNOWAIT) == 0; }

TEST(ProgramOutput, leaves_neither_a_descriptor_nor_a_process) {
  const int next = next_descriptor();
  EXPECT_NE(output_of({"/bin/true"}), std::nullopt);
  EXPECT_EQ(output_of({"/bin/false"}), std::nullopt);
  EXPECT_EQ(output_of({"/no/such/program"}), std::nullopt);
  EXPECT_EQ(next_descriptor(), next);
  EXPECT_FALSE(has_child());
}

using Kind = ChildAnswer::Kind;

constexpr std::chrono::minutes longest{1};

TEST(AnswerOfAChild, is_all_that_it_says) {
  const std::string text(300000, 'x');
  const auto answer = ask_in_child([&] { return text; }, longest);
  EXPECT_EQ(answer.kind, Kind::answered);
  EXPECT_EQ(answer.text, text);
  EXPECT_EQ(ask_in_child([]() -> std::string { throw std::runtime_error{"why not"}; }, longest).text, "why not");
}

TEST(AnswerOfAChild, is_none_of_one_that_crashes) {
  const auto answer = ask_in_child(
      [] {
        ::raise(SIGKILL);
        return std::string{};
      },
      longest);
  EXPECT_EQ(answer.kind, Kind::crashed);
}

TEST(AnswerOfAChild, that_comes_too_late_is_not_waited_for) {
  const auto answer = ask_in_child(
      [] {
        for (;;) {
          ::pause();
        }
        return std::string{};
      },
      std::chrono::milliseconds{50});
  EXPECT_EQ(answer.kind, Kind::late);
  EXPECT_FALSE(has_child()) << "it has ended and was waited for";
}

TEST(AnswerOfAChild, is_waited_for_by_nobody_when_the_one_who_asks_has_been_killed) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  const pid_t asking = tests::start_child([&] {
    ::close(pipe[0]);
    const auto answer = [&] {
      static_cast<void>(::write(pipe[1], "+", 1) + 1);
      for (;;) {
        ::pause();
      }
      return std::string{};
    };
    return ask_in_child(answer, longest).kind == Kind::late ? 0 : 1;
  });
  ::close(pipe[1]);
  char said = 0;
  ASSERT_EQ(::read(pipe[0], &said, 1), 1);
  ::kill(asking, SIGKILL);
  EXPECT_EQ(::read(pipe[0], &said, 1), 0) << "nobody has the pipe any more";
  EXPECT_EQ(tests::end_of(asking), -SIGKILL);
  ::close(pipe[0]);
}

} // namespace
} // namespace gputest::os
