// SPDX-License-Identifier: BSD-3-Clause
// Most of it is in client_test.cpp, with a worker: ends_a_worker_after_a_case_that_changed_its_process.
#include "workers/process_snapshot.hpp"

#include "support/in_child.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::workers {
namespace {

TEST(ProcessSnapshots, show_what_a_case_has_changed) {
  const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int zero = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
  const auto change_limit = [](auto resource) {
    rlimit limit{};
    ::getrlimit(resource, &limit);
    limit.rlim_cur = limit.rlim_cur == 0 ? limit.rlim_max : 0;
    ::setrlimit(resource, &limit);
  };
  const auto set_alarm = [](auto clock) {
    const itimerval time{{0, 0}, {0, 999'999}};
    ::setitimer(clock, &time, nullptr);
  };
  std::signal(SIGUSR2, [](int) {});
  const auto other_handler = [] { return std::string{"the signal "} + ::strsignal(SIGUSR2) + " has another handler"; };
  std::vector<std::pair<std::function<void()>, std::string>> changes{
      {[] {}, ""},
      {[] { std::signal(SIGUSR2, [](int signal) { ::_exit(signal); }); }, other_handler()},
      {[] { std::signal(SIGUSR2, SIG_IGN); }, other_handler()},
      {[] { std::signal(SIGUSR2, SIG_DFL); }, other_handler()},
      {[] { tests::in_child([] { return 0; }); }, ""},
      {[&] { set_alarm(ITIMER_REAL); }, "an alarm"},
      {[&] { set_alarm(ITIMER_VIRTUAL); }, "an alarm"},
      {[&] { set_alarm(ITIMER_PROF); }, "an alarm"},
      {[] {
         siginfo_t info{};
         const auto ended = static_cast<id_t>(tests::start_child([] { return 0; }));
         ::waitid(P_PID, ended, &info, WEXITED | WNOWAIT);
       },
       "the processes that it has started"},
      {[&] {
         std::fclose(stdin);
         ::fcntl(file, F_DUPFD, STDIN_FILENO);
       },
       "descriptor 0 is another file: /dev/null in place of /dev/zero"},
      {[&] { ::close(file); }, "descriptor " + std::to_string(file) + " (/dev/null) is closed"},
      {[] { std::signal(NSIG - 1, SIG_IGN); },
       std::string{"the signal "} + ::strsignal(NSIG - 1) + " has another handler"}, // NOLINT(concurrency-mt-unsafe)
      {[&] { change_limit(RLIMIT_RTTIME); }, "a resource limit"},
      {[] { ::setsid(); }, "its session or process group"},
      {[] { ::setpgid(0, 0); }, "its session or process group"},
      {[] { ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }, "its privileges"},
  };
  if (::access("/proc/self/timers", R_OK) == 0) {
    changes.emplace_back(
        [] {
          timer_t timer{};
          ::timer_create(CLOCK_MONOTONIC, nullptr, &timer);
        },
        "its timers");
  }
  if (::geteuid() == 0) {
    changes.emplace_back([] { static_cast<void>(::setuid(65534) + 1); }, "the user or group");
    changes.emplace_back(
        [] {
          const gid_t other = 65534;
          static_cast<void>(::setgroups(1, &other) + 1);
        },
        "the user or group");
    changes.emplace_back([] { ::prctl(PR_CAPBSET_DROP, CAP_CHOWN, 0, 0, 0); }, "its privileges");
  }
  for (const auto& [change, said] : changes) {
    EXPECT_EQ(tests::in_child([&, change = change, said = said] {
                ::dup2(zero, STDIN_FILENO);
                const auto before = take_snapshot();
                change();
                return change_between(before, take_snapshot(), {}) == said ? 0 : 1;
              }),
              0)
        << said;
  }
  std::signal(SIGUSR2, SIG_DFL);
  ::close(zero);
  ::close(file);
}

TEST(ProcessSnapshots, show_that_a_standard_stream_is_closed_where_a_driver_was_loaded_too) {
  EXPECT_EQ(tests::in_child([] {
              const auto before = take_snapshot();
              ::open("/dev/null", O_RDONLY | O_CLOEXEC); // as a driver
              if (!change_between(before, take_snapshot(), {true, {}}).empty()) {
                return 1;
              }
              std::fclose(stdin);
              return change_between(before, take_snapshot(), {true, {}}).find("descriptor 0 (") == 0 ? 0 : 2;
            }),
            0);
}

TEST(ProcessSnapshots, are_compared_with_the_streams_and_variables_of_the_next_case) {
  EXPECT_EQ(tests::in_child([] {
              auto state = take_snapshot();
              ::close(STDIN_FILENO);
              const int stream = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
              ::setenv("CTEST_RESOURCE_GROUP_COUNT", "1", 1); // NOLINT(concurrency-mt-unsafe)
              renew_what_is_given(state);
              return stream == STDIN_FILENO && change_between(state, take_snapshot(), {}).empty() ? 0 : 1;
            }),
            0);
}

} // namespace
} // namespace gputest::workers
