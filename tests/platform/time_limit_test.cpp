// SPDX-License-Identifier: BSD-3-Clause
#include "platform/time_limit.hpp"

#include "platform/process_end.hpp"
#include "support/in_child.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <thread>

#include <unistd.h>

namespace gputest::platform {
namespace {

using namespace std::chrono_literals;
using tests::end_of;
using tests::start_child;

constexpr const char* whole_text = "sort is over, 0 s not counted\n";

void start_limit(std::chrono::nanoseconds limit) {
  start_time_limit(limit, {"sort is over, ", " s not counted\n"}, 0ms);
}

[[noreturn]] void block() {
  for (;;) {
    ::pause();
  }
}

void block_all_signals() {
  sigset_t all{};
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
}

struct Seen {
  int end = 0; ///< as end_of() says
  std::string output;
};

/// Runs `function` in a child, and reads all that is written until nobody has its output any more.
template <class Function>
Seen run(Function function) {
  std::array<int, 2> pipe{};
  EXPECT_EQ(::pipe(pipe.data()), 0);
  const pid_t child = start_child([&] {
    ::dup2(pipe[1], STDOUT_FILENO);
    ::dup2(pipe[1], STDERR_FILENO);
    ::close(pipe[0]);
    ::close(pipe[1]);
    function();
    return 0;
  });
  ::close(pipe[1]);
  Seen seen;
  std::array<char, 4096> block{};
  for (ssize_t count = 0; (count = ::read(pipe[0], block.data(), block.size())) > 0;) {
    seen.output.append(block.data(), static_cast<std::size_t>(count));
  }
  ::close(pipe[0]);
  seen.end = end_of(child);
  return seen;
}

TEST(TimeLimit, ends_a_process_that_blocks_with_the_text) {
  const auto seen = run([] {
    start_limit(10ms);
    block();
  });
  EXPECT_EQ(seen.end, -SIGKILL);
  EXPECT_EQ(seen.output, whole_text);
}

TEST(TimeLimit, ends_a_process_that_computes) {
  const auto seen = run([] {
    start_limit(10ms);
    for (std::atomic<int> i{0};; ++i) {
    }
  });
  EXPECT_EQ(seen.end, -SIGKILL);
  EXPECT_EQ(seen.output, whole_text);
}

TEST(TimeLimit, ends_a_process_that_blocks_all_signals) {
  const auto seen = run([] {
    start_limit(1s); // it must not be over before the signals are blocked
    block_all_signals();
    block();
  });
  EXPECT_EQ(seen.end, -SIGKILL);
}

TEST(TimeLimit, ends_a_stopped_process) {
  const auto seen = run([] {
    start_limit(1s);
    ::kill(::getpid(), SIGSTOP);
  });
  EXPECT_EQ(seen.end, -SIGKILL);
}

TEST(TimeLimit, lets_its_signal_in_again_when_the_next_test_begins) {
  const auto seen = run([] {
    start_limit(1h);
    block_all_signals();
    set_time_limit_text({"", ""});
    sigset_t blocked{};
    ::sigprocmask(SIG_SETMASK, nullptr, &blocked);
    end_now(::sigismember(&blocked, SIGXCPU) + 2 * ::sigismember(&blocked, SIGTERM));
  });
  EXPECT_EQ(seen.end, 2);
}

TEST(TimeLimit, writes_what_was_printed) {
  const auto seen = run([] {
    std::fputs("printed before", stdout);
    start_limit(10ms);
    block();
  });
  EXPECT_EQ(seen.end, -SIGKILL);
  EXPECT_EQ(seen.output, whole_text + std::string{"printed before"});
}

TEST(TimeLimit, ends_a_process_in_which_a_thread_keeps_standard_output) {
  const auto seen = run([] {
    std::atomic<bool> kept{false};
    std::thread thread{[&] {
      ::flockfile(stdout);
      kept = true;
      block();
    }};
    while (!kept) {
      std::this_thread::yield();
    }
    start_limit(10ms);
    block();
  });
  EXPECT_EQ(seen.end, -SIGKILL);
  EXPECT_EQ(seen.output, whole_text);
}

TEST(TimeLimit, writes_to_standard_output_if_standard_error_is_closed) {
  const auto seen = run([] {
    ::close(STDERR_FILENO);
    start_limit(10ms);
    block();
  });
  EXPECT_EQ(seen.output, whole_text);
}

TEST(TimeLimit, names_what_the_last_text_names) {
  const auto seen = run([] {
    start_limit(3s);
    set_time_limit_text({"keys is over, ", "\n"});
    block();
  });
  EXPECT_EQ(seen.output, "keys is over, 0\n");
}

TEST(TimeLimit, ends_what_the_process_has_started) {
  // run() returns when nobody has the output any more.
  const auto seen = run([] {
    for (int i = 0; i < 3; ++i) {
      start_child([] {
        ::setsid();
        block_all_signals();
        start_child([] {
          block();
          return 0;
        });
        block();
        return 0;
      });
    }
    start_limit(10ms);
    block();
  });
  EXPECT_EQ(seen.end, -SIGKILL);
}

TEST(TimeLimit, ends_what_is_being_started_meanwhile) {
  const auto seen = run([] {
    for (int i = 0; i < 4; ++i) {
      start_child([] {
        for (int j = 0; j < 20; ++j) {
          start_child([] {
            block();
            return 0;
          });
        }
        block();
        return 0;
      });
    }
    start_limit(5ms);
    block();
  });
  EXPECT_EQ(seen.end, -SIGKILL);
}

TEST(TimeLimit, is_not_that_of_a_forked_process) {
  const auto seen = run([] {
    start_limit(1h);
    const bool parent_has_one = time_left().has_value();
    const int in_child = tests::in_child([] {
      const NotCounted not_counted;
      return time_left() ? 1 : 0;
    });
    end_now(parent_has_one && in_child == 0 ? 0 : 1);
  });
  EXPECT_EQ(seen.end, 0);
}

TEST(TimeLimit, does_not_count_what_is_not_to_be_counted) {
  const auto seen = run([] {
    const auto passes_some = [] { std::this_thread::sleep_for(1ms); };
    start_limit(1h);
    const auto at_begin = time_left();
    passes_some();
    const auto counted = time_left();
    bool good = at_begin && counted && *counted < *at_begin;
    {
      const NotCounted first;
      const auto before = time_left();
      passes_some();
      {
        const NotCounted second;
        passes_some();
      }
      passes_some();
      good = good && time_left() == before;
    }
    const auto after = time_left();
    passes_some();
    end_now(good && time_left() < after && *after < *counted ? 0 : 1);
  });
  EXPECT_EQ(seen.end, 0);
}

TEST(TimeLimit, counts_on_after_a_wait) {
  const auto seen = run([] {
    start_limit(3s);
    {
      const NotCounted not_counted;
      std::this_thread::sleep_for(1s);
    }
    start_limit(1ms); // a second limit has no effect
    set_time_limit_text({"not counted: ", "\n"});
    block();
  });
  EXPECT_EQ(seen.end, -SIGKILL);
  EXPECT_EQ(seen.output.substr(0, 13), "not counted: ");
  EXPECT_NE(seen.output, "not counted: 0\n");
}

volatile std::sig_atomic_t handled = 0;

TEST(TimeLimit, leaves_the_same_signal_of_others_to_the_handler_before) {
  const auto seen = run([] {
    std::signal(SIGXCPU, [](int) { handled = 1; });
    start_limit(1h);
    std::raise(SIGXCPU);
    end_now(handled == 1 ? 0 : 1);
  });
  EXPECT_EQ(seen.end, 0);
  const auto unhandled = run([] {
    start_limit(1h);
    std::raise(SIGXCPU);
  });
  EXPECT_EQ(unhandled.end, -SIGXCPU);
}

} // namespace
} // namespace gputest::platform
