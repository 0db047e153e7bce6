// SPDX-License-Identifier: BSD-3-Clause
#include "core/time_limit.hpp"

#include "support/in_child.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <string>

#include <dlfcn.h>
#include <unistd.h>

namespace {

/// In a child, what sleeps instead of the C library's function.
void (*sleep_in_place)(const timespec& until) = nullptr;

/// In a child that lets no signal in before all is set.
bool keeps_signals_blocked = false;

} // namespace

extern "C" int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) {
  return keeps_signals_blocked ? 0 : ::sigprocmask(how, set, before) == 0 ? 0 : errno; // there is one thread
}

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

/// What a process whose time is over writes, and that it sleeps before it ends. `meanwhile` is called before.
std::string output_at_the_end(
    bool in_entry, const std::string& who = "sort", void (*meanwhile)(TimeLimit& limit) = [](TimeLimit&) {}) {
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
    sigset_t all{};
    ::sigfillset(&all);
    ::sigprocmask(SIG_BLOCK, &all, nullptr);
    keeps_signals_blocked = true;
    limit->start(who, in_entry);
    meanwhile(*limit);
    ::sigprocmask(SIG_UNBLOCK, &all, nullptr); // the time may be over by now
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

TEST(CoreTimeLimit, names_what_runs_and_how_long_it_may) {
  const std::string rest = " has run for 0.01 s, the limit (TIMEOUT), not counting ";
  const auto begins_with = [](const std::string& text, const std::string& start) { return text.rfind(start, 0) == 0; };
  const auto unnamed = output_at_the_end(false, "");
  EXPECT_TRUE(begins_with(unnamed, "gputest: timed out: this process" + rest)) << unnamed;
  const auto later = output_at_the_end(false, "sort", [](TimeLimit& limit) { limit.running("sort: Keys"); });
  EXPECT_TRUE(begins_with(later, "gputest: timed out: sort: Keys" + rest)) << later;
  const auto again = output_at_the_end(true, "sort", [](TimeLimit& limit) { limit.start("other", false); });
  EXPECT_TRUE(begins_with(again, "gputest: timed out: sort" + rest)) << again;
  const auto hidden = output_at_the_end(true, "sort", [](TimeLimit& limit) { limit.hide_from_ctest("other"); });
  EXPECT_TRUE(begins_with(hidden, "gputest: timed out: other" + rest)) << hidden;
  EXPECT_EQ(hidden.find('\x7f'), std::string::npos) << hidden;
}

TEST(CoreTimeLimit, is_taken_from_those_that_this_process_starts_if_it_can_be_used) {
  EXPECT_EQ(tests::in_child([] {
              setenv("GPUTEST_TIMEOUT", "60", 1);
              return TimeLimit::take() && getenv("GPUTEST_TIMEOUT") == nullptr && !TimeLimit::take() ? 0 : 1;
            }),
            0);
  EXPECT_EQ(tests::in_child([] {
              setenv("GPUTEST_TIMEOUT", "soon", 1);
              return !TimeLimit::take() && getenv("GPUTEST_TIMEOUT") != nullptr ? 0 : 1;
            }),
            0);
}

} // namespace
} // namespace gputest::core
