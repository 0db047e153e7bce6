// SPDX-License-Identifier: BSD-3-Clause
#include "workers/process_snapshot.hpp"

#include "support/in_child.hpp"
#include "support/private_folder.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

namespace gputest::workers {
namespace {

using testing::HasSubstr;

/// What is said of a child in which `change` has happened.
int is_seen(const std::function<void()>& change, const std::string& said) {
  return tests::in_child([&] {
    const auto before = take_snapshot();
    change();
    const auto difference = change_between(before, take_snapshot(), {});
    return difference == said ? 0 : (static_cast<void>(std::fprintf(stderr, "%s\n", difference.c_str())), 1);
  });
}

TEST(ProcessSnapshots, show_a_timer_of_less_than_a_second_and_one_of_more) {
  const auto alarm_in = [](time_t seconds, suseconds_t microseconds) {
    return [=] {
      const itimerval time{{0, 0}, {seconds, microseconds}};
      ::setitimer(ITIMER_REAL, &time, nullptr);
    };
  };
  EXPECT_EQ(is_seen(alarm_in(0, 999'999), "an alarm is set"), 0);
  EXPECT_EQ(is_seen(alarm_in(3600, 0), "an alarm is set"), 0);
}

TEST(ProcessSnapshots, show_a_child_that_runs_and_one_that_nobody_has_waited_for) {
  const std::string said = "a process that it has started is still there";
  const auto before = take_snapshot();
  const pid_t running = tests::start_child([] {
    for (;;) {
      ::pause();
    }
    return 0;
  });
  EXPECT_EQ(change_between(before, take_snapshot(), {}), said);
  ::kill(running, SIGKILL);
  tests::end_of(running);
  EXPECT_EQ(is_seen(
                [] {
                  siginfo_t info{};
                  const auto ended = static_cast<id_t>(tests::start_child([] { return 0; }));
                  ::waitid(P_PID, ended, &info, WEXITED | WNOWAIT);
                },
                said),
            0);
  EXPECT_EQ(is_seen([] { tests::in_child([] { return 0; }); }, ""), 0);
  const pid_t ended = tests::start_child([] { return 7; });
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(ended), &info, WEXITED | WNOWAIT);
  EXPECT_TRUE(take_snapshot().has_children);
  EXPECT_EQ(tests::end_of(ended), 7) << "the look has not waited for it";
}

TEST(ProcessSnapshots, show_what_each_descriptor_refers_to) {
  const tests::PrivateFolder folder;
  folder.write("file", "", 0600);
  const std::string path = folder.path() + "/file";
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const auto before = take_snapshot();
  EXPECT_EQ(before.descriptors.at(file), path);
  EXPECT_EQ(before.descriptors.count(STDERR_FILENO), 1U);
  ::close(file);
  EXPECT_EQ(change_between(before, take_snapshot(), {}),
            "descriptor " + std::to_string(file) + " (" + path + ") is closed");
}

TEST(ProcessSnapshots, show_the_folder_the_variables_and_the_handler_of_the_last_signal) {
  EXPECT_EQ(is_seen([] { static_cast<void>(::chdir("/proc") + 1); }, "the working directory is /proc"), 0);
  EXPECT_EQ(is_seen([] { ::setenv("LEFT_BY_A_CASE", "1", 1); }, "the environment variable LEFT_BY_A_CASE has changed"),
            0);
  EXPECT_EQ(is_seen(
                [] {
                  const mode_t before = ::umask(0);
                  ::umask(before ^ 0100U);
                },
                "the umask has changed"),
            0);
  const std::string last = ::strsignal(NSIG - 1); // NOLINT(concurrency-mt-unsafe)
  EXPECT_EQ(is_seen([] { std::signal(NSIG - 1, SIG_IGN); }, "the signal " + last + " has another handler"), 0);
  EXPECT_EQ(is_seen(
                [] {
                  sigset_t set{};
                  ::sigemptyset(&set);
                  ::sigaddset(&set, SIGUSR1);
                  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
                },
                "the signal User defined signal 1 is blocked"),
            0);
  const auto state = take_snapshot();
  EXPECT_TRUE(std::is_sorted(state.variables.begin(), state.variables.end()));
  EXPECT_EQ(state.users[1], ::geteuid());
  EXPECT_EQ(state.groups[1], ::getegid());
}

TEST(ProcessSnapshots, show_the_threads_the_limits_the_processors_and_the_user) {
  EXPECT_EQ(is_seen(
                [] {
                  std::thread{[] {
                    for (;;) {
                      ::pause();
                    }
                  }}.detach();
                },
                "2 threads run, and 1 ran before it"),
            0);
  for (const auto resource : {RLIMIT_CORE, RLIMIT_RTTIME}) {
    EXPECT_EQ(is_seen(
                  [&] {
                    rlimit limit{};
                    ::getrlimit(resource, &limit);
                    limit.rlim_cur = limit.rlim_cur == 0 ? limit.rlim_max : 0;
                    ::setrlimit(resource, &limit);
                  },
                  "a resource limit has changed"),
              0);
  }
  cpu_set_t all{};
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  const auto is_one_left_out = [&] { // where there are several
    std::size_t first = 0;
    while (!CPU_ISSET(first, &all)) {
      ++first;
    }
    cpu_set_t others = all;
    CPU_CLR(first, &others);
    ::sched_setaffinity(0, sizeof others, &others);
  };
  EXPECT_EQ(is_seen(is_one_left_out, CPU_COUNT(&all) > 1 ? "the processors on which it may run have changed" : ""), 0);
  if (::geteuid() == 0) {
    EXPECT_EQ(is_seen([] { static_cast<void>(::setuid(65534) + 1); }, "it runs as another user or group"), 0);
    EXPECT_EQ(is_seen([] { static_cast<void>(::setgid(65534) + 1); }, "it runs as another user or group"), 0);
  }
}

TEST(ProcessSnapshots, leave_out_what_is_a_drivers_or_the_ledgers) {
  EXPECT_THAT(folders_of_devices(),
              testing::ElementsAre("/dev/nvidia", "/proc/driver/nvidia",
                                   "/tmp/gputest-" + std::to_string(::geteuid()) + "/", "/run/gputest/"));
}

} // namespace
} // namespace gputest::workers
