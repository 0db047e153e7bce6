// SPDX-License-Identifier: BSD-3-Clause
#include "workers/supervised_command.hpp"

#include "core/os/entry_page.hpp"
#include "core/os/file.hpp"
#include "workers/descendants.hpp"

#include <gputest/outcome.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::workers {

namespace {

namespace fs = std::filesystem;
using std::chrono::nanoseconds;
using Clock = os::KernelClock;

constexpr std::array passed_on{SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
constexpr std::chrono::milliseconds look_interval{100};

/// As exec() takes them; they point into `texts`.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (auto& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

sigset_t waited_for() {
  sigset_t waited{};
  ::sigemptyset(&waited);
  ::sigaddset(&waited, SIGCHLD);
  for (const int signal : passed_on) {
    ::sigaddset(&waited, signal);
  }
  return waited;
}

/// The next signal; 0 if none comes within the time.
int next_signal(siginfo_t& info, std::optional<nanoseconds> limit) {
  const sigset_t waited = waited_for();
  const auto time = std::max(limit.value_or(nanoseconds{0}), nanoseconds{0}).count();
  const timespec until{static_cast<time_t>(time / 1'000'000'000), static_cast<long>(time % 1'000'000'000)};
  return std::max(::sigtimedwait(&waited, &info, limit ? &until : nullptr), 0);
}

/// This process's output as far as somebody reads it to its end: until nobody can write to it any more.
std::vector<struct stat> streams_read_to_their_end() {
  std::vector<struct stat> streams;
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat status {};
    if (::fstat(stream, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode))) {
      streams.push_back(status);
    }
  }
  return streams;
}

bool has_open(pid_t pid, const std::vector<struct stat>& streams) {
  std::error_code error;
  for (fs::directory_iterator at{"/proc/" + std::to_string(pid) + "/fd", error}, end; !error && at != end;
       at.increment(error)) {
    struct stat status {};
    struct stat link {}; // its mode says how the file is open
    if (::lstat(at->path().c_str(), &link) == 0 && (link.st_mode & S_IWUSR) != 0 &&
        ::stat(at->path().c_str(), &status) == 0 &&
        std::any_of(streams.begin(), streams.end(), [&](const struct stat& stream) {
          return stream.st_dev == status.st_dev && stream.st_ino == status.st_ino;
        })) {
      return true;
    }
  }
  return false;
}

/// Waits, as CTest does, for those that the command has left behind and that have its output open. Their names, if the
/// time is over before; then they are ended.
std::string wait_for_output(const Watch& watch, Clock::time_point begun, std::vector<pid_t> (*candidates)()) {
  const auto streams = streams_read_to_their_end();
  std::string names;
  std::set<pid_t> killed;
  int looks_left = 1000;
  for (;;) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    std::vector<pid_t> holders;
    for (const pid_t pid : candidates()) {
      if (has_open(pid, streams)) {
        holders.push_back(pid);
      }
    }
    if (holders.empty()) {
      return names;
    }
    const auto left = time_left(watch, begun);
    if (left <= nanoseconds{0}) { // again and again, because one may have started another meanwhile
      for (const pid_t pid : holders) {
        if (killed.insert(pid).second) {
          names += (names.empty() ? "" : ", ") + name_of_process(pid);
        }
        ::kill(pid, SIGKILL);
      }
      if (--looks_left == 0) { // one cannot be killed, such as in a driver's call
        return names;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
      continue;
    }
    siginfo_t info{};
    const int signal = next_signal(info, std::min(*left, nanoseconds{look_interval}));
    if (signal > 0 && signal != SIGCHLD) {
      const sigset_t waited = waited_for();
      ::sigprocmask(SIG_UNBLOCK, &waited, nullptr);
      ::raise(signal);
    }
  }
}

std::vector<pid_t> all_other_processes() {
  std::vector<pid_t> found;
  std::error_code error;
  for (fs::directory_iterator at{"/proc", error}, end; !error && at != end; at.increment(error)) {
    const auto pid = static_cast<pid_t>(std::strtol(at->path().filename().c_str(), nullptr, 10));
    if (pid > 0 && pid != ::getpid()) {
      found.push_back(pid);
    }
  }
  return found;
}

} // namespace

std::string name_of_process(pid_t pid) {
  const auto number = std::to_string(pid);
  const os::Descriptor file{::open(("/proc/" + number + "/comm").c_str(), O_RDONLY | O_CLOEXEC)};
  std::array<char, 64> name{};
  const auto size = ::read(file.number(), name.data(), name.size());
  return number + " (" + std::string{name.data(), static_cast<std::size_t>(std::max<ssize_t>(size - 1, 0))} + ")";
}

std::optional<nanoseconds> time_left(const Watch& watch, Clock::time_point begun) {
  // Who waits first: a process adds its time before it ends to wait.
  const bool waits = watch.page != nullptr && watch.page->is_waiting();
  if (watch.limit.count() == 0) {
    return std::nullopt;
  }
  const nanoseconds elapsed = Clock::now() - begun;
  const auto waited = watch.page == nullptr ? nanoseconds{0} : std::min(watch.page->waited(), elapsed);
  const auto left = watch.limit + waited - elapsed;
  return waits ? std::max(left, nanoseconds{look_interval}) : left;
}

std::string wait_for_writers(const Watch& watch, Clock::time_point begun) {
  return wait_for_output(watch, begun, all_other_processes);
}

CommandEnd run_supervised(std::vector<std::string> command, const Watch& watch) {
  const auto arguments = pointers_to(command);
  std::signal(SIGCHLD, SIG_DFL); // NOLINT(cert-err33-c): if it was ignored, there would be no status to wait for
  if (watch.page != nullptr) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  const sigset_t waited = waited_for();
  sigset_t before{};
  ::sigprocmask(SIG_BLOCK, &waited, &before);

  static_cast<void>(std::fflush(nullptr)); // the command writes behind it
  const auto begun = Clock::now();
  const pid_t watcher = ::getpid();
  volatile int error = 0;
  const pid_t child = ::vfork(); // NOLINT: copies no memory; until exec the child makes system calls only
  if (child < 0) {
    return {errno};
  }
  if (child == 0) {
    // If the watcher is killed, the command must end too, as if it had replaced the watcher.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != watcher) {
      ::_exit(127);
    }
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    ::execvp(arguments.front(), arguments.data());
    error = errno; // in the watcher's memory
    ::_exit(127);
  }
  for (;;) {
    int status = 0;
    pid_t ended = 0;
    do { // also what the command has left behind
      ended = ::waitpid(-1, &status, WNOHANG);
    } while (ended > 0 && ended != child);
    if (ended == child) {
      CommandEnd end{error, WIFEXITED(status) ? WEXITSTATUS(status) : 0, WIFSIGNALED(status) ? WTERMSIG(status) : 0};
      if (watch.limit.count() > 0 && (::waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD)) {
        end.left_behind = wait_for_output(watch, begun, [] { return descendants(); });
        end.timed_out = !end.left_behind.empty();
      }
      return end;
    }
    auto left = time_left(watch, begun);
    if (left && *left <= nanoseconds{0}) {
      end_descendants();
      return {0, 0, SIGKILL, true};
    }
    if (watch.look) {
      left = std::min(left.value_or(look_interval), nanoseconds{look_interval});
    }
    siginfo_t info{};
    const int signal = next_signal(info, left);
    if (watch.look) {
      watch.look();
    }
    if (signal > 0 && signal != SIGCHLD && info.si_code != SI_KERNEL) {
      ::kill(child, signal);
    }
  }
}

std::string describe_end(int status) {
  return WIFSIGNALED(status) ? std::string{"by the signal "} + ::strsignal(WTERMSIG(status)) // NOLINT: one thread
                             : "with the exit code " + std::to_string(WEXITSTATUS(status));
}

bool does_not_fail(int exit_code) { return exit_code == EXIT_SUCCESS || exit_code == skipped_exit_code; }

void end_by_signal(int signal) {
  std::fflush(stdout); // NOLINT(cert-err33-c): nothing else can be done
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  std::signal(signal, SIG_DFL); // NOLINT(cert-err33-c)
  sigset_t set{};
  ::sigemptyset(&set);
  ::sigaddset(&set, signal);
  ::kill(::getpid(), signal);
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  std::_Exit(128 + signal); // a signal whose default is not to end a process
}

void execute(std::vector<std::string> command, std::vector<std::string> environment) {
  const auto pointers = pointers_to(command);
  ::execve(pointers.front(), pointers.data(), pointers_to(environment).data());
  std::_Exit(127);
}

} // namespace gputest::workers
