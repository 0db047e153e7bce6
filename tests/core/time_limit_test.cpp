// SPDX-License-Identifier: BSD-3-Clause
#include "core/time_limit.hpp"

#include "support/in_child.hpp"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <string>

#include <dlfcn.h>
#include <unistd.h>

namespace {

/// In a child, what sleeps instead of the C library's function.
void (*sleep_in_place)(const timespec& until) = nullptr;

} // namespace

extern "C" int clock_nanosleep(clockid_t clock, int flags, const timespec* until, timespec* left) {
  if (sleep_in_place != nullptr) {
    sleep_in_place(*until);
    return 0;
  }
  static const auto real = reinterpret_cast<decltype(&::clock_nanosleep)>(::dlsym(RTLD_NEXT, "clock_nanosleep"));
  return real(clock, flags, until, left);
}

namespace gputest::core {
namespace {

/// When the limit began to be counted.
timespec begin{}; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): a handler reads it

/// What a process whose time is over writes, and that it sleeps before it ends.
std::string output_at_the_end(bool in_entry) {
  std::array<int, 2> pipe{};
  EXPECT_EQ(::pipe(pipe.data()), 0);
  const pid_t child = tests::start_child([&] {
    ::dup2(pipe[1], STDOUT_FILENO);
    ::dup2(pipe[1], STDERR_FILENO);
    ::close(pipe[0]);
    ::close(pipe[1]);
    sleep_in_place = [](const timespec& until) {
      const bool a_second = until.tv_sec - begin.tv_sec >= 2; // of which the limit takes less than one
      static_cast<void>(!::write(STDOUT_FILENO, a_second ? "sleeps a second" : "sleeps less", a_second ? 15 : 11));
    };
    setenv("GPUTEST_TIMEOUT", "0.01", 1);
    auto limit = TimeLimit::take();
    ::clock_gettime(CLOCK_MONOTONIC, &begin);
    limit->start("sort", in_entry);
    for (;;) {
      ::pause();
    }
    return 0;
  });
  ::close(pipe[1]);
  std::string output;
  std::array<char, 4096> block{};
  for (ssize_t count = 0; (count = ::read(pipe[0], block.data(), block.size())) > 0;) {
    output.append(block.data(), static_cast<std::size_t>(count));
  }
  ::close(pipe[0]);
  EXPECT_EQ(tests::end_of(child), -SIGKILL);
  return output;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

TEST(CoreTimeLimit, leaves_ctest_the_time_to_see_the_text_and_to_end_the_test) {
  const auto output = output_at_the_end(true);
  EXPECT_TRUE(ends_with(output, "\x7f\nsleeps a second")) << output;
}

TEST(CoreTimeLimit, ends_a_process_at_once_where_no_ctest_waits_for_the_text) {
  const auto output = output_at_the_end(false);
  EXPECT_TRUE(ends_with(output, "gpu_discover_tests()\n")) << output;
}

} // namespace
} // namespace gputest::core
