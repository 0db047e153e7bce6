// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/test_status_page.hpp"

#include "support/in_child.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <fstream>
#include <optional>
#include <string>
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
  EXPECT_EQ(report.skipped_because, "skipped");
  EXPECT_EQ(report.not_run, "") << "a later run has run it";
  EXPECT_EQ(page.waits_for(), "a GPU");
}

TEST(EntryPages, say_what_becomes_of_lines_in_the_output_of_their_processes) {
  const TestStatusPage page;
  const auto output = [&](const std::string& entry, const TestStatusPage* seen = nullptr) {
    return output_of(policy::parse_report_target(entry), seen);
  };
  EXPECT_EQ(output(""), Output::free);
  EXPECT_EQ(output("ctest"), Output::of_entry);
  EXPECT_EQ(output("will_fail"), Output::of_entry);
  EXPECT_EQ(output("by_output"), Output::judged);
  EXPECT_EQ(output(page.path(), &page), Output::of_entry);
  page.set_output_is_judged();
  EXPECT_EQ(output(page.path(), &page), Output::judged);
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
  std::optional<PauseTimeLimit> first{std::in_place};
  std::optional<PauseTimeLimit> second{std::in_place};
  set_status_page_of_process(nullptr); // the next case's: these two still wait for this one
  first.reset();
  EXPECT_TRUE(page.observe_waits());
  EXPECT_GT(page.seen_waiting().count(), 0);
  EXPECT_EQ(page.waited().count(), 0) << "known when the wait has ended";
  second.reset();
  EXPECT_FALSE(page.observe_waits());
  EXPECT_EQ(page.seen_waiting().count(), 0);
  const auto waited = page.waited();
  EXPECT_GT(waited.count(), 0);
  EXPECT_LE(waited, KernelClock::now() - begun) << "the time of both counts once";
  const PauseTimeLimit of_no_entry;
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
      const PauseTimeLimit waits;
      return 0;
    });
  });
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(page.observe_waits());
  EXPECT_GT(page.waited().count(), 0);
  EXPECT_LT(page.waited(), std::chrono::hours{1});
}

TEST(EntryPages, count_a_wait_without_a_descriptor_when_it_has_ended) {
  TestStatusPage page;
  set_status_page_of_process(TestStatusPage::open(page.path()));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &none);
  std::optional<PauseTimeLimit> waits{std::in_place};
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_FALSE(page.observe_waits());
  waits.reset();
  EXPECT_GT(page.waited().count(), 0);
  waits.emplace();
  EXPECT_TRUE(page.observe_waits());
  waits.reset();
  EXPECT_FALSE(page.observe_waits());
  set_status_page_of_process(nullptr);
}

TEST(EntryPages, do_not_count_the_time_since_a_waiting_process_was_killed) {
  TestStatusPage page;
  const auto wait_and_be_killed = [&] {
    set_status_page_of_process(TestStatusPage::open(page.path()));
    const PauseTimeLimit waits;
    ::raise(SIGKILL);
    return 0;
  };
  EXPECT_EQ(tests::in_child(wait_and_be_killed), -SIGKILL);
  EXPECT_EQ(tests::in_child(wait_and_be_killed), -SIGKILL);
  EXPECT_FALSE(page.observe_waits());
  const auto seen = page.waited();
  set_status_page_of_process(TestStatusPage::open(page.path()));
  {
    const PauseTimeLimit waits;
    EXPECT_TRUE(page.observe_waits()) << "a later process";
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
    const PauseTimeLimit waits;
    tests::start_child([&] {
      ::close(say[1]);
      next(say[0]);
      const PauseTimeLimit waits_itself;
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
  std::optional<PauseTimeLimit> wait{std::in_place};
  one.go_on();
  wait.reset();
  auto waited = page.waited();
  EXPECT_FALSE(one.answer());
  EXPECT_EQ(page.waited(), waited);

  wait.emplace();
  other.go_on();
  wait.reset();
  waited = page.waited();
  other.go_on();
  wait.emplace();
  EXPECT_TRUE(other.answer()) << "another wait has begun";
  EXPECT_EQ(page.waited(), waited);
  EXPECT_TRUE(page.observe_waits());
  set_status_page_of_process(nullptr);
}

} // namespace
} // namespace gputest::os
