// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/test_status_page.hpp"

#include "core/os/process.hpp"
#include "support/in_child.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if !defined(CLONE_NEWTIME)
#define CLONE_NEWTIME 0x00000080
#endif

namespace gputest::os {
namespace {

using std::chrono::milliseconds;

constexpr std::chrono::hours longest_wait{1};

void pass(milliseconds time) {
  for (const auto until = KernelClock::now() + time; KernelClock::now() < until;) {
  }
}

TEST(EntryPages, have_what_processes_told_that_have_ended_whatever_they_closed) {
  const TestStatusPage page;
  EXPECT_EQ(tests::in_child([&] {
              const auto own = TestStatusPage::open(page.path());
              for (int file = 3; file < 100; ++file) {
                ::close(file);
              }
              own->begin();
              own->begin();
              own->set_running("first");
              own->set_running(std::string(5000, 'x'));
              own->set_running("second");
              own->set_check_has_failed();
              own->end(TestStatusPage::End::all_skipped);
              own->end(TestStatusPage::End::nothing_ran);
              own->fail_by_gputest("why");
              own->fail_by_gputest("another reason");
              own->skip("skipped");
              own->skip("for another reason");
              own->set_not_run("first");
              own->set_not_run("");
              own->set_waits_for("a GPU");
              return 0;
            }),
            0);
  const auto report = page.report();
  EXPECT_EQ(report.begun, 2U);
  EXPECT_EQ(report.ended, 2U);
  EXPECT_EQ(report.skipped, 1U);
  EXPECT_EQ(report.nothing_ran, 1U);
  EXPECT_EQ(report.failed_by_gputest, "why");
  EXPECT_EQ(report.running, "second");
  EXPECT_TRUE(report.has_failed());
  EXPECT_EQ(report.skipped_because, "skipped");
  EXPECT_EQ(report.not_run, "") << "a later run has run it";
  EXPECT_EQ(page.waits_for(), "a GPU");
}

TEST(EntryPages, know_which_processes_use_them) {
  const TestStatusPage page;
  const auto user = tests::start_child([&] {
    ::pause();
    return 0;
  });
  EXPECT_EQ(page.is_mapped_by(user), true) << "forked by one that does";
  EXPECT_EQ(TestStatusPage{}.is_mapped_by(user), false);
  ::kill(user, SIGKILL);
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(user), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(page.is_mapped_by(user), false) << "only its exit status is left";
  static_cast<void>(tests::end_of(user));
  EXPECT_EQ(page.is_mapped_by(user), false);
}

TEST(EntryPages, know_which_processes_have_gone_before_their_tests_had_ended) {
  const TestStatusPage page;
  const auto is_lost = [&](bool ends_tests, int namespaces) {
    const auto runs = [&] {
      const auto own = TestStatusPage::open(page.path());
      own->begin();
      const bool is_lost_while_it_lives = page.has_lost_a_process();
      if (ends_tests) {
        own->end(TestStatusPage::End::passed);
      }
      return is_lost_while_it_lives ? 1 : 0;
    };
    EXPECT_EQ(tests::in_child([&] { return ::unshare(namespaces) == 0 ? tests::in_child(runs) : runs(); }), 0);
    return page.has_lost_a_process();
  };
  EXPECT_FALSE(is_lost(true, 0));
  EXPECT_FALSE(is_lost(true, CLONE_NEWPID)) << "where it has another id";
  EXPECT_TRUE(is_lost(false, CLONE_NEWPID));
}

TEST(EntryPages, say_what_becomes_of_lines_in_the_output_of_their_processes) {
  const TestStatusPage page;
  const auto output = [&](const std::string& entry, const TestStatusPage* seen = nullptr) {
    return output_of(policy::parse_report_target(entry), seen);
  };
  for (const char* const name : {"CTEST_INTERACTIVE_DEBUG_MODE", "DASHBOARD_TEST_FROM_CTEST"}) {
    setenv(name, "1", 1);
    EXPECT_EQ(output(""), Output::of_ctest);
    unsetenv(name);
  }
  EXPECT_EQ(output(""), Output::free);
  EXPECT_EQ(output("ctest"), Output::of_entry);
  EXPECT_EQ(output("will_fail"), Output::of_entry);
  EXPECT_EQ(output("by_output"), Output::judged);
  EXPECT_EQ(output(page.path(), &page), Output::of_entry);
  page.set_output_is_judged();
  EXPECT_EQ(output(page.path(), &page), Output::judged);
}

TEST(EntryPages, are_made_beyond_a_limit_for_files_or_say_that_it_is_in_the_way) {
  EXPECT_EQ(tests::in_child([] {
              rlimit limit{};
              ::getrlimit(RLIMIT_FSIZE, &limit);
              limit.rlim_cur = 100;
              ::setrlimit(RLIMIT_FSIZE, &limit);
              const TestStatusPage page;
              return page.path().empty() ? EXIT_FAILURE : EXIT_SUCCESS;
            }),
            0);
  EXPECT_EQ(tests::in_child([] {
              const rlimit limit{100, 100};
              ::setrlimit(RLIMIT_FSIZE, &limit);
              try {
                const TestStatusPage page;
              } catch (const Error& error) {
                return std::string{error.what()}.find("Raise the limit (ulimit -f)") == std::string::npos ? 2 : 0;
              }
              return 1;
            }),
            0);
}

TEST(EntryPages, are_none_under_a_path_that_is_another_file) {
  EXPECT_EQ(TestStatusPage::open("/proc/self/fd/100000"), nullptr);
  EXPECT_EQ(TestStatusPage::open("/dev/null"), nullptr);
  const Descriptor smaller{::memfd_create("page", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  ASSERT_EQ(::ftruncate(smaller.number(), 1), 0);
  ASSERT_EQ(::fcntl(smaller.number(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  EXPECT_EQ(TestStatusPage::open("/proc/self/fd/" + std::to_string(smaller.number())), nullptr) << "of another version";
}

TEST(EntryPages, count_the_time_in_which_anybody_waits) {
  TestStatusPage page;
  EXPECT_EQ(page.waited().count(), 0);
  EXPECT_FALSE(page.observe_waits());
  set_status_page_of_process(TestStatusPage::open(page.path()));
  const auto begun = KernelClock::now();
  std::optional<PauseTimeLimit> first{std::in_place, longest_wait};
  std::optional<PauseTimeLimit> second{std::in_place, longest_wait};
  set_status_page_of_process(nullptr); // the next case's: these two still wait for this one
  first.reset();
  EXPECT_TRUE(page.observe_waits());
  EXPECT_GT(page.seen_waiting().count(), 0);
  pass(milliseconds{1});
  second.reset();
  EXPECT_FALSE(page.observe_waits());
  EXPECT_EQ(page.seen_waiting().count(), 0);
  const auto waited = page.waited();
  EXPECT_GT(waited.count(), 0);
  EXPECT_LE(waited, KernelClock::now() - begun) << "the time of both counts once";
  const PauseTimeLimit of_no_entry{longest_wait};
  EXPECT_FALSE(page.observe_waits());
  EXPECT_EQ(page.waited(), waited);
}

TEST(EntryPages, count_a_wait_whatever_clocks_its_process_and_the_watcher_see) {
  TestStatusPage page;
  if (tests::in_child([] { return ::unshare(CLONE_NEWTIME); }) != 0) {
    GTEST_SKIP() << "this user may not make a time namespace";
  }
  const int status = tests::in_child([&] {
    std::ofstream offsets{"/proc/self/timens_offsets"};
    if (::unshare(CLONE_NEWTIME) != 0 || !(offsets << "monotonic 86400 0" << std::flush)) {
      return 1;
    }
    return tests::in_child([&] { // it is in the namespace
      set_status_page_of_process(TestStatusPage::open(page.path()));
      const PauseTimeLimit waits{longest_wait};
      pass(milliseconds{1});
      return 0;
    });
  });
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(page.observe_waits());
  EXPECT_GT(page.waited().count(), 0);
  EXPECT_LT(page.waited(), std::chrono::hours{1});
}

TEST(EntryPages, count_no_wait_that_is_extended_when_there_is_none) {
  TestStatusPage page;
  set_status_page_of_process(TestStatusPage::open(page.path()));
  PauseTimeLimit::extend(longest_wait);
  EXPECT_FALSE(page.observe_waits());
  set_status_page_of_process(nullptr);
}

/// A process that waits until it is told to go on.
class Waiter {
public:
  explicit Waiter(const TestStatusPage& page, std::chrono::nanoseconds longest = longest_wait) {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) {
      throw std::system_error{errno, std::generic_category(), "pipe"};
    }
    pid_ = tests::start_child([&] {
      ::close(ends_[1]);
      set_status_page_of_process(TestStatusPage::open(page.path()));
      std::optional<PauseTimeLimit> waits{std::in_place, longest};
      ::raise(SIGSTOP); // it waits
      char byte = 0;
      static_cast<void>(::read(ends_[0], &byte, 1) < 0);
      waits.reset();
      return 0;
    });
    ::close(ends_[0]);
    ::waitpid(pid_, nullptr, WUNTRACED);
  }
  void go_on() const {
    ::kill(pid_, SIGCONT);
    ::waitpid(pid_, nullptr, WCONTINUED);
  }
  void end() const {
    EXPECT_EQ(::write(ends_[1], "+", 1), 1);
    EXPECT_EQ(tests::end_of(pid_), 0);
    ::close(ends_[1]);
  }

private:
  std::array<int, 2> ends_{};
  pid_t pid_ = 0;
};

TEST(EntryPages, count_the_time_once_in_which_several_processes_wait) {
  TestStatusPage page;
  const auto before = KernelClock::now();
  const Waiter first{page};
  const auto begun = KernelClock::now();
  pass(milliseconds{50});
  const Waiter second{page};
  const Waiter third{page};
  for (const auto* waiter : {&first, &second, &third}) {
    waiter->go_on();
  }
  pass(milliseconds{100});
  first.end();
  third.end();
  pass(milliseconds{50});
  const auto ends = KernelClock::now();
  second.end();
  EXPECT_FALSE(page.observe_waits());
  const auto waited = page.waited();
  EXPECT_GE(waited + milliseconds{1}, ends - begun);
  EXPECT_LE(waited, KernelClock::now() - before);
}

TEST(EntryPages, do_not_count_a_wait_of_processes_that_are_stopped) {
  TestStatusPage page;
  const auto before = KernelClock::now();
  const Waiter stopped{page};
  const Waiter goes_on{page};
  const Waiter also_stopped{page};
  goes_on.go_on();
  const auto begun = KernelClock::now();
  EXPECT_TRUE(page.observe_waits());
  pass(milliseconds{50});
  EXPECT_TRUE(page.observe_waits());
  const auto all = KernelClock::now() - begun;
  EXPECT_GE(page.waited() + milliseconds{1}, all) << "one of them waits";
  goes_on.end();
  EXPECT_TRUE(page.observe_waits());
  pass(milliseconds{50});
  EXPECT_TRUE(page.observe_waits());
  auto waited = page.waited();
  EXPECT_LE(waited, KernelClock::now() - before - milliseconds{50});
  stopped.go_on();
  EXPECT_TRUE(page.observe_waits());
  waited = page.waited();
  pass(milliseconds{50});
  EXPECT_TRUE(page.observe_waits());
  EXPECT_GE(page.waited(), waited + milliseconds{49}) << "it goes on";
  stopped.end();
  also_stopped.go_on();
  also_stopped.end();
  EXPECT_FALSE(page.observe_waits());
}

TEST(EntryPages, see_a_stopped_process_that_has_adjacent_bytes_locked) {
  TestStatusPage page;
  const pid_t stopped = tests::start_child([&] { // as several threads do whose waits end almost at the same time
    set_status_page_of_process(TestStatusPage::open(page.path()));
    const PauseTimeLimit waits{longest_wait};
    const Descriptor file{::open(page.path().c_str(), O_RDONLY | O_CLOEXEC)};
    for (const off_t length : {2, 0}) { // the second to the end of the file
      struct flock bytes {};
      bytes.l_type = F_RDLCK;
      bytes.l_start = std::numeric_limits<off_t>::max() / (2 + length);
      bytes.l_len = length;
      ::fcntl(file.number(), F_SETLK, &bytes);
    }
    return ::raise(SIGSTOP);
  });
  ::waitpid(stopped, nullptr, WUNTRACED);
  EXPECT_TRUE(page.observe_waits());
  ::kill(stopped, SIGKILL);
  EXPECT_EQ(tests::end_of(stopped), -SIGKILL);
  EXPECT_FALSE(page.observe_waits());
}

TEST(EntryPages, count_a_wait_of_processes_that_are_stopped_with_their_ctest) {
  EXPECT_EQ(tests::in_child([] { // ctest
              return tests::in_child([] {
                TestStatusPage page;
                const Waiter stopped{page};
                const auto begun = KernelClock::now();
                ::kill(::getppid(), SIGSTOP);
                while (state_of(::getppid()) != ProcessState::stopped) {
                }
                static_cast<void>(page.observe_waits());
                pass(milliseconds{50});
                static_cast<void>(page.observe_waits());
                const auto all = KernelClock::now() - begun;
                const bool counts = page.waited() + milliseconds{1} >= all;
                ::kill(::getppid(), SIGCONT);
                stopped.go_on();
                stopped.end();
                return counts ? 0 : 1;
              });
            }),
            0);
}

TEST(EntryPages, do_not_count_a_wait_that_should_have_ended) {
  TestStatusPage page;
  const auto before = KernelClock::now();
  const Waiter hangs{page, -std::chrono::minutes{1}};
  hangs.go_on();
  EXPECT_TRUE(page.observe_waits());
  pass(milliseconds{50});
  EXPECT_TRUE(page.observe_waits());
  auto waited = page.waited();
  EXPECT_LE(waited, KernelClock::now() - before - milliseconds{50});
  const Waiter waits{page};
  waits.go_on();
  EXPECT_TRUE(page.observe_waits());
  waited = page.waited();
  pass(milliseconds{50});
  EXPECT_TRUE(page.observe_waits());
  EXPECT_GE(page.waited(), waited + milliseconds{49}) << "another one waits";
  waits.end();
  hangs.end();
  EXPECT_FALSE(page.observe_waits());
}

TEST(EntryPages, count_a_wait_without_a_descriptor_when_it_has_ended) {
  TestStatusPage page;
  set_status_page_of_process(TestStatusPage::open(page.path()));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &none);
  std::optional<PauseTimeLimit> waits{std::in_place, longest_wait};
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_FALSE(page.observe_waits());
  pass(milliseconds{1});
  waits.reset();
  EXPECT_GT(page.waited().count(), 0);
  waits.emplace(longest_wait);
  EXPECT_TRUE(page.observe_waits());
  waits.reset();
  EXPECT_FALSE(page.observe_waits());
  set_status_page_of_process(nullptr);
}

TEST(EntryPages, do_not_count_the_time_since_a_waiting_process_was_killed) {
  TestStatusPage page;
  const auto wait_and_be_killed = [&] {
    set_status_page_of_process(TestStatusPage::open(page.path()));
    const PauseTimeLimit waits{longest_wait};
    ::raise(SIGKILL);
    return 0;
  };
  EXPECT_EQ(tests::in_child(wait_and_be_killed), -SIGKILL);
  EXPECT_EQ(tests::in_child(wait_and_be_killed), -SIGKILL);
  EXPECT_FALSE(page.observe_waits());
  const auto seen = page.waited();
  set_status_page_of_process(TestStatusPage::open(page.path()));
  {
    const PauseTimeLimit waits{longest_wait};
    EXPECT_TRUE(page.observe_waits()) << "a later process";
    pass(milliseconds{1});
  }
  EXPECT_FALSE(page.observe_waits());
  EXPECT_GT(page.waited(), seen);
  set_status_page_of_process(nullptr);
}

TEST(EntryPages, count_a_wait_for_the_process_that_waits_and_not_for_one_that_it_forks) {
  TestStatusPage page;
  std::array<int, 2> say{};
  std::array<int, 2> hear{};
  ASSERT_EQ(::pipe(say.data()), 0);
  ASSERT_EQ(::pipe(hear.data()), 0);
  const auto next = [&](int from) {
    char word = 0;
    return ::read(from, &word, 1) == 1;
  };
  const auto fork_while_it_waits = [&] {
    set_status_page_of_process(TestStatusPage::open(page.path()));
    const PauseTimeLimit waits{longest_wait};
    tests::start_child([&] {
      ::close(say[1]);
      next(say[0]);
      const PauseTimeLimit waits_itself{longest_wait};
      static_cast<void>(!::write(hear[1], "+", 1));
      next(say[0]); // until it is closed
      return 0;
    });
    ::raise(SIGKILL);
    return 0;
  };
  EXPECT_EQ(tests::in_child(fork_while_it_waits), -SIGKILL);
  EXPECT_FALSE(page.observe_waits()) << "the process that waited was killed";
  ASSERT_EQ(::write(say[1], "+", 1), 1);
  ::close(hear[1]);
  EXPECT_TRUE(next(hear[0]));
  EXPECT_TRUE(page.observe_waits());
  ::close(say[1]);
  EXPECT_FALSE(next(hear[0])) << "it has ended";
  EXPECT_FALSE(page.observe_waits());
  ::close(say[0]);
  ::close(hear[0]);
}

/// A watcher that asks once whether anybody waits, and is stopped before and after it looks for a lock.
class StoppedWatcher {
public:
  explicit StoppedWatcher(TestStatusPage& page)
      : pid_{tests::start_child([&] {
          if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) {
            return 2;
          }
          ::raise(SIGSTOP);
          return page.observe_waits() ? 1 : 0;
        })} {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    is_traced_ = WIFSTOPPED(status) && ::ptrace(PTRACE_SETOPTIONS, pid_, nullptr, PTRACE_O_TRACESYSGOOD) == 0;
  }

  [[nodiscard]] bool is_traced() const { return is_traced_; }

  /// Goes on until it is about to look, and then until it has looked.
  void go_on() {
    for (__ptrace_syscall_info call{};
         call.op != PTRACE_SYSCALL_INFO_ENTRY || call.entry.nr != SYS_fcntl || call.entry.args[1] != F_OFD_GETLK;) {
      int status = 0;
      ::ptrace(PTRACE_SYSCALL, pid_, nullptr, nullptr);
      if (::waitpid(pid_, &status, 0) != pid_ || !WIFSTOPPED(status)) {
        FAIL() << "it did not look";
      }
      if (std::exchange(is_looking_, false)) {
        return;
      }
      ::ptrace(PTRACE_GET_SYSCALL_INFO, pid_, sizeof call, &call);
    }
    is_looking_ = true;
  }

  /// What it has been told.
  [[nodiscard]] bool answer() const {
    ::ptrace(PTRACE_DETACH, pid_, nullptr, nullptr);
    return tests::end_of(pid_) != 0;
  }

private:
  pid_t pid_;
  bool is_traced_ = false;
  bool is_looking_ = false;
};

TEST(EntryPages, do_not_count_a_wait_twice_that_ends_while_the_watcher_looks) {
  TestStatusPage page;
  StoppedWatcher one{page};
  StoppedWatcher other{page};
  if (!one.is_traced()) {
    GTEST_SKIP() << "no process may be traced here";
  }
  set_status_page_of_process(TestStatusPage::open(page.path()));
  std::optional<PauseTimeLimit> wait{std::in_place, longest_wait};
  one.go_on();
  wait.reset();
  auto waited = page.waited();
  EXPECT_FALSE(one.answer());
  EXPECT_EQ(page.waited(), waited);

  wait.emplace(longest_wait);
  other.go_on();
  wait.reset();
  waited = page.waited();
  other.go_on();
  const auto begun = KernelClock::now();
  wait.emplace(longest_wait);
  EXPECT_TRUE(other.answer()) << "another wait has begun";
  EXPECT_TRUE(page.observe_waits());
  waited = page.waited() - waited;
  EXPECT_LE(waited, KernelClock::now() - begun);
  set_status_page_of_process(nullptr);
}

} // namespace
} // namespace gputest::os
