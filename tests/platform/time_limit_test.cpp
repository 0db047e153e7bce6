// SPDX-License-Identifier: BSD-3-Clause
#include "platform/time_limit.hpp"

#include "platform/process_end.hpp"
#include "support/in_child.hpp"
#include "support/message_of.hpp"
#include "support/private_folder.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

/// In a child, what arms a timer instead of the C library's function.
int (*arm_in_place)(timer_t, int, const itimerspec*, itimerspec*) = nullptr;

int arm(timer_t timer, int flags, const itimerspec* time, itimerspec* former) {
  static const auto real = reinterpret_cast<decltype(&::timer_settime)>(::dlsym(RTLD_NEXT, "timer_settime"));
  return real(timer, flags, time, former);
}

/// What the next look at the clock sees, in a child; the clock's time if it is 0.
std::atomic<time_t> seconds_seen_next{0};

} // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  if (clock == CLOCK_MONOTONIC && seconds_seen_next != 0) {
    *time = {seconds_seen_next.exchange(0), 0};
  }
  return result;
}

extern "C" int timer_settime(timer_t timer, int flags, const itimerspec* time, itimerspec* former) noexcept {
  return (arm_in_place != nullptr ? arm_in_place : arm)(timer, flags, time, former);
}

namespace gputest::platform {
namespace {

using namespace std::chrono_literals;
using tests::end_of;
using tests::in_child;
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

/// Before the time is counted, whatever the speed of the machine: start_time_limit() lets its signal in.
void block_all_signals_when_it_starts() {
  arm_in_place = [](auto... arguments) {
    block_all_signals();
    return arm(arguments...);
  };
}

TEST(TimeLimit, ends_a_process_that_blocks_all_signals) {
  const auto seen = run([] {
    block_all_signals_when_it_starts();
    start_limit(1ms);
    block();
  });
  EXPECT_EQ(seen.end, -SIGKILL);
  EXPECT_EQ(seen.output, "");
}

TEST(TimeLimit, ends_a_stopped_process) {
  const auto seen = run([] {
    block_all_signals_when_it_starts(); // it must not be over before the process stops
    start_limit(1ms);
    ::kill(::getpid(), SIGSTOP);
    static_cast<void>(!::write(STDOUT_FILENO, "went on", 7));
    block();
  });
  EXPECT_EQ(seen.end, -SIGKILL);
  EXPECT_EQ(seen.output, "");
}

std::atomic<pid_t> starter{0};
std::atomic<bool> is_over{false};
std::atomic<bool> has_started{false};
std::atomic<bool> has_set_text{false};

bool is_past(const timespec& time) {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return time.tv_sec < now.tv_sec || (time.tv_sec == now.tv_sec && time.tv_nsec < now.tv_nsec);
}

// The time is over in one thread while another one still starts it: that one must not set the timer that kills back.
TEST(TimeLimit, that_is_over_at_once_leaves_the_time_for_the_message) {
  const auto seen = run([] {
    arm_in_place = [](timer_t timer, int flags, const itimerspec* time, itimerspec* former) {
      if (::gettid() != starter) {
        const int result = arm(timer, flags, time, former);
        is_over = true;
        while (!has_started) {
          ::sched_yield();
        }
        return result;
      }
      block_all_signals();
      if (is_over) {
        static_cast<void>(!::write(STDOUT_FILENO, "set back, ", 10));
      }
      const int result = arm(timer, flags, time, former);
      while (is_past(time->it_value) && !is_over) {
        ::sched_yield();
      }
      return result;
    };
    std::thread{[] {
      starter = ::gettid();
      start_limit(1ns);
      has_started = true;
      block();
    }}.detach();
    block();
  });
  EXPECT_EQ(seen.end, -SIGKILL);
  EXPECT_EQ(seen.output, whole_text);
}

// It may be reading the text.
TEST(TimeLimit, that_is_over_takes_no_other_text) {
  const auto seen = run([] {
    arm_in_place = [](auto... arguments) {
      sigset_t blocked{};
      ::sigprocmask(SIG_SETMASK, nullptr, &blocked);
      if (::sigismember(&blocked, SIGTERM) == 1) { // in the handler
        is_over = true;
        while (!has_set_text) {
          ::sched_yield();
        }
      }
      return arm(arguments...);
    };
    std::atomic<bool> blocked{false};
    std::thread{[&] {
      block_all_signals();
      blocked = true;
      while (!is_over) {
        ::sched_yield();
      }
      set_time_limit_text({"too late", ""});
      set_time_limit_text({"too late", ""});
      has_set_text = true;
      block();
    }}.detach();
    while (!blocked) {
      ::sched_yield();
    }
    start_limit(10ms);
    block();
  });
  EXPECT_EQ(seen.end, -SIGKILL);
  EXPECT_EQ(seen.output, whole_text);
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

TEST(TimeLimit, writes_to_both_standard_streams_if_they_are_two_files) {
  const tests::PrivateFolder folder;
  folder.write("err", "", 0600);
  const auto seen = run([&] {
    ::dup2(::open((folder.path() + "/err").c_str(), O_WRONLY | O_CLOEXEC), STDERR_FILENO);
    start_limit(10ms);
    block();
  });
  EXPECT_EQ(seen.output, whole_text);
  std::ifstream errors{folder.path() + "/err"};
  EXPECT_EQ((std::string{std::istreambuf_iterator<char>{errors}, {}}), whole_text);
}

TEST(TimeLimit, writes_as_much_of_a_text_as_there_is_room_for) {
  const auto seen = run([] {
    start_time_limit(10ms, {std::string(5000, 'b'), std::string(5000, 'a')}, 0ms);
    block();
  });
  EXPECT_EQ(seen.output, std::string(2047, 'b') + "0" + std::string(1023, 'a'));
}

std::atomic<int> armed{0};
std::atomic<time_t> armed_until{0};

TEST(TimeLimit, lets_the_process_go_on_for_the_delay_after_the_text) {
  const auto seen = run([] {
    arm_in_place = [](timer_t timer, int flags, const itimerspec* time, itimerspec* former) {
      armed_until = time->it_value.tv_sec;
      ++armed;
      return arm(timer, flags, time, former);
    };
    block_all_signals(); // and lets its own in where it starts
    std::thread{[] {
      while (armed < 4) { // two timers when it starts; the one that kills when the time is over, and behind the text
        ::sched_yield();
      }
      timespec now{};
      ::clock_gettime(CLOCK_MONOTONIC, &now);
      ::_exit(armed_until > now.tv_sec + 3000 ? 7 : 8);
    }}.detach();
    start_time_limit(1ms, {"sort is over, ", " s not counted\n"}, 1h);
    block();
  });
  EXPECT_EQ(seen.end, 7);
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
    std::array<int, 2> started{};
    if (::pipe(started.data()) != 0) {
      end_now(1);
    }
    for (int i = 0; i < 4; ++i) {
      start_child([&] {
        for (int j = 0; j < 20; ++j) {
          start_child([&] {
            static_cast<void>(!::write(started[1], "+", 1));
            block();
            return 0;
          });
        }
        block();
        return 0;
      });
    }
    char first = 0;
    if (::read(started[0], &first, 1) != 1) {
      end_now(2);
    }
    start_limit(1ns);
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

TEST(TimeLimit, is_not_counted_in_a_wait_after_one_that_began_before_the_limit) {
  const auto seen = run([] {
    auto before = std::make_unique<NotCounted>();
    start_limit(1h);
    before.reset();
    const NotCounted not_counted;
    const auto left = time_left();
    end_now(time_left() == left ? 0 : 1);
  });
  EXPECT_EQ(seen.end, 0);
}

TEST(TimeLimit, is_not_over_in_a_wait_in_which_a_shorter_one_has_ended) {
  const auto seen = run([] {
    start_limit(1s);
    const NotCounted all;
    { const NotCounted a_part; }
    std::this_thread::sleep_for(1500ms);
    end_now(0);
  });
  EXPECT_EQ(seen.end, 0);
}

std::array<timer_t, 2> timers{};
std::size_t timer_count = 0;

bool is_armed(timer_t timer) {
  itimerspec left{};
  ::timer_gettime(timer, &left);
  return left.it_value.tv_sec > 0 || left.it_value.tv_nsec > 0;
}

TEST(TimeLimit, has_no_timer_during_a_wait) {
  const auto seen = run([] {
    arm_in_place = [](timer_t timer, auto... arguments) {
      if (timer_count < timers.size()) {
        timers.at(timer_count++) = timer;
      }
      return arm(timer, arguments...);
    };
    start_limit(1h);
    bool good = timer_count == timers.size() && timers[0] != timers[1];
    good = good && std::all_of(timers.begin(), timers.end(), is_armed);
    {
      const NotCounted not_counted;
      good = good && std::none_of(timers.begin(), timers.end(), is_armed);
    }
    end_now(good && std::all_of(timers.begin(), timers.end(), is_armed) ? 0 : 1);
  });
  EXPECT_EQ(seen.end, 0);
}

TEST(TimeLimit, that_no_timer_can_be_made_for_is_an_error) {
  const auto seen = run([] {
    tests::become_nobody();
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_SIGPENDING, &none);
    const auto said = tests::message_of<Error>([] { start_limit(1h); });
    end_now(said == "no timer can be made for the time limit: Resource temporarily unavailable" && !time_left() ? 0
                                                                                                                : 1);
  });
  EXPECT_EQ(seen.end, 0);
}

TEST(TimeLimit, that_was_ended_leaves_no_timer_and_no_time) {
  const auto seen = run([] {
    arm_in_place = [](timer_t timer, auto... arguments) {
      if (timer_count < timers.size()) {
        timers.at(timer_count++) = timer;
      }
      return arm(timer, arguments...);
    };
    end_time_limit(); // of none
    set_time_limit_text({"", ""});
    bool good = !time_left();
    start_limit(1h);
    start_limit(1min); // a second limit has no effect
    good = good && time_left() <= 1h && *time_left() > 50min;
    in_child([] {
      end_time_limit(); // of its parent
      return 0;
    });
    good = good && time_left() && timer_count == timers.size();
    end_time_limit();
    good = good && !time_left();
    for (const timer_t timer : timers) {
      itimerspec left{};
      good = good && ::timer_gettime(timer, &left) != 0;
    }
    end_time_limit();
    end_now(good ? 0 : 1);
  });
  EXPECT_EQ(seen.end, 0);
}

TEST(TimeLimit, does_not_name_the_waits_of_one_that_was_ended) {
  const auto seen = run([] {
    start_limit(1h);
    {
      const NotCounted not_counted;
      std::this_thread::sleep_for(1s);
    }
    end_time_limit();
    start_limit(100ms);
    set_time_limit_text({"not counted: ", "\n"});
    block();
  });
  EXPECT_EQ(seen.end, -SIGKILL);
  EXPECT_EQ(seen.output, "not counted: 0\n");
}

TEST(TimeLimit, counts_on_after_waits_whose_seconds_it_names) {
  const auto seen = run([] {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    start_limit(3s);
    for (const time_t seconds : {4300, 21}) {
      seconds_seen_next = now.tv_sec + 1;
      const auto wait = std::make_unique<NotCounted>();
      seconds_seen_next = now.tv_sec + 1 + seconds;
    }
    start_limit(1ms); // a second limit has no effect
    set_time_limit_text({"not counted: ", "\n"});
    block();
  });
  EXPECT_EQ(seen.end, -SIGKILL);
  EXPECT_EQ(seen.output, "not counted: 4321\n");
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
  const auto ignored = run([] {
    std::signal(SIGXCPU, SIG_IGN);
    start_limit(1h);
    std::raise(SIGXCPU);
  });
  EXPECT_EQ(ignored.end, 0);
  const auto handled_with_more = run([] {
    struct sigaction action {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = [](int signal, siginfo_t* info, void*) {
      handled = signal == SIGXCPU && info->si_pid == ::getpid() ? 1 : 0;
    };
    ::sigaction(SIGXCPU, &action, nullptr);
    start_limit(1h);
    end_time_limit();
    start_limit(1h); // whose handler is there already
    std::raise(SIGXCPU);
    end_now(handled == 1 ? 0 : 1);
  });
  EXPECT_EQ(handled_with_more.end, 0);
  const auto of_another_timer = run([] {
    std::signal(SIGXCPU, [](int) { handled = 1; });
    start_limit(1h);
    block_all_signals();
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGXCPU;
    timer_t timer{};
    const itimerspec at_once{{0, 0}, {0, 1}};
    if (::timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || arm(timer, 0, &at_once, nullptr) != 0) {
      end_now(2);
    }
    sigset_t pending{};
    do {
      ::sigpending(&pending);
    } while (::sigismember(&pending, SIGXCPU) == 0);
    ::sigemptyset(&pending);
    ::sigprocmask(SIG_SETMASK, &pending, nullptr);
    end_now(handled == 1 ? 0 : 1);
  });
  EXPECT_EQ(of_another_timer.end, 0);
}

} // namespace
} // namespace gputest::platform
