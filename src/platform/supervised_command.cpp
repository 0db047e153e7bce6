// SPDX-License-Identifier: BSD-3-Clause
#include "platform/supervised_command.hpp"

#include "platform/descriptor.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::platform {

namespace {

constexpr std::array passed_on{SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

sigset_t waited_for() {
  sigset_t waited{};
  ::sigemptyset(&waited);
  ::sigaddset(&waited, SIGCHLD);
  for (const int signal : passed_on) {
    ::sigaddset(&waited, signal);
  }
  return waited;
}

[[noreturn]] void become_the_command(std::vector<std::string>& command, int errors, const sigset_t& mask,
                                     pid_t launcher) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (auto& argument : command) {
    arguments.push_back(argument.data());
  }
  arguments.push_back(nullptr);
  // If the launcher is killed, the command must end too, as if it had replaced the launcher.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launcher) {
    ::_exit(127);
  }
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::execvp(arguments.front(), arguments.data());
  const int error = errno;
  static_cast<void>(::write(errors, &error, sizeof error) < 0);
  ::_exit(127);
}

/// errno's value of an exec that failed; 0 once it has succeeded.
int error_of_exec(int errors) {
  int error = 0;
  ssize_t count = 0;
  do {
    count = ::read(errors, &error, sizeof error);
  } while (count < 0 && errno == EINTR);
  return count == static_cast<ssize_t>(sizeof error) ? error : 0;
}

} // namespace

CommandEnd run_supervised(std::vector<std::string> command, const std::function<void()>& look) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return {errno};
  }
  const Descriptor in{ends[0]};
  Descriptor out{ends[1]};

  std::signal(SIGCHLD, SIG_DFL); // NOLINT(cert-err33-c): if it was ignored, there would be no status to wait for
  const sigset_t waited = waited_for();
  sigset_t before{};
  ::sigprocmask(SIG_BLOCK, &waited, &before);

  static_cast<void>(std::fflush(nullptr)); // the child would write it again
  const pid_t launcher = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    return {errno};
  }
  if (child == 0) {
    become_the_command(command, out.number(), before, launcher);
  }
  out = Descriptor{};
  const int error = error_of_exec(in.number());
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) {
      return {error, WIFEXITED(status) ? WEXITSTATUS(status) : 0, WIFSIGNALED(status) ? WTERMSIG(status) : 0};
    }
    siginfo_t info{};
    constexpr timespec between_looks{0, 100'000'000};
    const int signal = look ? ::sigtimedwait(&waited, &info, &between_looks) : ::sigwaitinfo(&waited, &info);
    if (look) {
      look();
    }
    if (signal > 0 && signal != SIGCHLD && info.si_code != SI_KERNEL) {
      ::kill(child, signal);
    }
  }
}

void unblock_signals() {
  const sigset_t waited = waited_for();
  ::sigprocmask(SIG_UNBLOCK, &waited, nullptr);
}

} // namespace gputest::platform
