// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/descriptor.hpp"

#include "support/in_child.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace gputest::os {
namespace {

using tests::in_child;

bool is_open(int number) { return ::fcntl(number, F_GETFD) >= 0; }

int open_null() { return ::open("/dev/null", O_RDWR | O_CLOEXEC); }

TEST(Descriptor, is_closed_at_its_end_and_once) {
  const int number = open_null();
  {
    Descriptor file{number};
    EXPECT_TRUE(file);
    const Descriptor moved{std::move(file)};
    EXPECT_FALSE(file); // NOLINT(bugprone-use-after-move): what is left is none
    EXPECT_EQ(moved.number(), number);
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
  EXPECT_FALSE(Descriptor{});
  EXPECT_EQ(Descriptor{}.number(), -1);
}

TEST(Descriptor, never_has_the_number_of_a_standard_stream) {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    EXPECT_EQ(in_child([&] {
                ::close(stream);
                const int opened = open_null();
                const Descriptor file{opened};
                const bool is_moved = opened == stream && file.number() > STDERR_FILENO && !is_open(stream);
                return is_moved && ::fcntl(file.number(), F_GETFD) == FD_CLOEXEC ? 0 : 1;
              }),
              0)
        << stream;
  }
}

} // namespace
} // namespace gputest::os
