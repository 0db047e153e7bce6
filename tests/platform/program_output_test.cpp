// SPDX-License-Identifier: BSD-3-Clause
#include "platform/program_output.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <stdexcept>
#include <string>

#include <unistd.h>

namespace gputest::platform {
namespace {

TEST(ProgramOutput, is_all_that_the_program_writes) {
  EXPECT_EQ(output_of({"/bin/echo", "two words", ""}), "two words \n");
  EXPECT_EQ(output_of({"/bin/sh", "-c", "head -c 300000 /dev/zero; echo error >&2"})->size(), 300000U);
}

TEST(ProgramOutput, gives_the_program_nothing_to_read) { EXPECT_EQ(output_of({"/bin/cat"}), ""); }

TEST(ProgramOutput, is_none_of_a_program_that_fails_or_is_not_there) {
  EXPECT_EQ(output_of({"/bin/sh", "-c", "echo text; exit 3"}), std::nullopt);
  EXPECT_EQ(output_of({"/bin/sh", "-c", "kill -9 $$"}), std::nullopt);
  EXPECT_EQ(output_of({"/no/such/program"}), std::nullopt);
  EXPECT_EQ(output_of({}), std::nullopt);
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
  EXPECT_EQ(answer.kind, Kind::late); // and the child has ended: it was waited for
}

} // namespace
} // namespace gputest::platform
