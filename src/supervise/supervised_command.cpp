// SPDX-License-Identifier: BSD-3-Clause
#include "supervise/supervised_command.hpp"

#include "core/os/file.hpp"
#include "core/os/process.hpp"
#include "core/os/program_output.hpp"
#include "core/os/test_status_page.hpp"
#include "supervise/descendants.hpp"
#include "supervise/relays.hpp"

#include <gputest/error.hpp>
#include <gputest/outcome.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <system_error>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::supervise {

namespace {

using os::KernelClock;
using std::chrono::nanoseconds;

constexpr std::array passed_on{SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
constexpr std::chrono::milliseconds shortest_sleep{10};

sigset_t waited_for() {
  sigset_t waited{};
  ::sigemptyset(&waited);
  ::sigaddset(&waited, SIGCHLD);
  for (const int signal : passed_on) {
    ::sigaddset(&waited, signal);
  }
  return waited;
}

/// Also blocks these, and returns what was blocked when this was called first.
const sigset_t& block_also(const sigset_t& set) {
  sigset_t before{};
  ::sigprocmask(SIG_BLOCK, &set, &before);
  static const sigset_t before_all = before;
  return before_all;
}

/// The signals that commands start with as blocked: those that this process had blocked at the first call.
const sigset_t& signals_of_commands() {
  sigset_t none{};
  ::sigemptyset(&none);
  return block_also(none);
}

/// The signals of waited_for(), which are blocked, and output to pass on.
class SignalsAndOutput {
public:
  explicit SignalsAndOutput(Relays& relays) : relays_{relays} {
    const sigset_t waited = waited_for();
    signals_ = os::Descriptor{::signalfd(-1, &waited, SFD_CLOEXEC | SFD_NONBLOCK)};
  }

  [[nodiscard]] bool can_wait() const { return bool{signals_}; }

  /// Blocks until something happens, or until the time is over. The next signal, if there is one.
  std::optional<signalfd_siginfo> wait(std::optional<nanoseconds> limit) {
    std::vector<pollfd> polled{{signals_.number(), POLLIN, 0}};
    relays_.wait(polled, limit);
    signalfd_siginfo info{};
    const bool any = ::read(signals_.number(), &info, sizeof info) == static_cast<ssize_t>(sizeof info);
    return any ? std::optional{info} : std::nullopt;
  }

  /// Ends this process by a signal that was sent to it, if it is not ignored.
  void end_by(const signalfd_siginfo& info) {
    relays_.release();
    const sigset_t waited = waited_for();
    ::sigprocmask(SIG_UNBLOCK, &waited, nullptr);
    ::raise(static_cast<int>(info.ssi_signo));
  }

private:
  Relays& relays_;
  os::Descriptor signals_;
};

/// Waits, as CTest does, until no process can write to the relays and all output is passed on. `wait` passes on what
/// comes within a time; false ends the waiting. When no time is left, `end` kills the processes that can write.
/// Returns what to say of these; empty: the output ended in time.
template <class TimeLeft, class Wait, class End>
std::string wait_for_end_of(const Relays& relays, TimeLeft time_left, Wait wait, End end) {
  std::string names;
  while (relays.any_open()) {
    std::optional<nanoseconds> left = time_left();
    if (left && *left <= nanoseconds{0}) {
      if (!relays.any_writer()) {
        left.reset(); // the reader takes its time
      } else if (names.empty()) {
        names = end();
        names = names.empty() ? "processes that could not be found" : names;
        continue;
      } else {
        break;
      }
    }
    if (!wait(left)) {
      break;
    }
  }
  return names;
}

bool is_parent_stopped() { return os::state_of(::getppid()) == os::ProcessState::stopped; }

/// As long as one exists, a signal to the process group of this process and its command reaches the command alone, and
/// what reaches this process was sent to it and is to be passed on.
///
/// What watches an entry leaves the session of its group for good. In a session without job control, as of CI, the
/// group of ctest is orphaned. With a parent in another group of its session, a command would end that: processes in
/// the group would stop for the terminal's signals, and once no such command is left, the kernel ends the group by
/// SIGHUP if a process in it is stopped (POSIX, _exit()). Its later commands are in its session, and stop and end with
/// its parent, as by Ctrl-Z and Ctrl-C.
class ProcessGroup {
public:
  explicit ProcessGroup(bool leaves_session)
      : first_{::getpgrp()}, leads_{first_ == ::getpid()}, leaves_session_{leaves_session} {
    if (has_left_session_) {
      ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    }
  }
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;
  ~ProcessGroup() {
    if (!leads_ && !leaves_session_) {
      ::setpgid(0, first_); // it may be gone
    }
  }

  /// In the child, before it becomes the command. A leader cannot leave its group, so the command does.
  void separate_command() const {
    if (leads_) {
      ::setpgid(0, 0);
    }
  }
  /// When it has become the command.
  void leave() const {
    if (leaves_session_) { // no leader can, and a leader has no group to leave
      has_left_session_ = has_left_session_ || ::setsid() > 0;
    } else if (!leads_) {
      ::setpgid(0, 0);
    }
  }
  /// In each turn: a later command is stopped as long as the parent is, as by Ctrl-Z.
  void follow_parent(pid_t command) {
    if (leads_ && has_left_session_ && is_parent_stopped() != is_stopped_) {
      is_stopped_ = !is_stopped_;
      ::kill(-command, is_stopped_ ? SIGSTOP : SIGCONT);
    }
  }
  /// Passes a signal on. Whoever sends one to a leader means its group.
  void pass_on(int signal, pid_t command) const { ::kill(leads_ ? -command : command, signal); }

  /// Whether this process gets a signal that the terminal sends to the command.
  [[nodiscard]] bool shares_terminal() const { return !leads_; }

private:
  inline static bool has_left_session_ = false;
  pid_t first_;
  bool leads_;
  bool leaves_session_;
  bool is_stopped_ = false;
};

/// Ends the processes below this one that run tests, since one of them was stopped and waits for this: so none sees
/// another one end by it, nor does what has started them end any, and those that have gone before their tests had ended
/// did so by themselves, which is a failure.
void end_attempt(const os::TestStatusPage& page) {
  auto processes = descendants();
  const auto runs_tests = [&](pid_t process) { return page.is_mapped_by(process).value_or(false); };
  processes.erase(std::partition(processes.begin(), processes.end(), runs_tests), processes.end());
  if (!processes.empty() && page.has_lost_a_process()) {
    page.set_check_has_failed();
  }
  for (const auto process : processes) {
    ::kill(process, SIGKILL);
  }
}

} // namespace

std::optional<nanoseconds> time_left(const Watch& watch, KernelClock::time_point begun) {
  if (watch.page != nullptr) {
    static_cast<void>(watch.page->observe_waits());
  }
  if (watch.limit.count() == 0) {
    return std::nullopt;
  }
  const nanoseconds elapsed = KernelClock::now() - begun;
  if (watch.page == nullptr) {
    return watch.limit - elapsed;
  }
  const auto left = watch.limit + std::min(watch.page->waited(), elapsed) - elapsed;
  return std::min(left, nanoseconds{watch.interval});
}

std::string wait_for_output(Relays& relays, const Watch& watch, KernelClock::time_point begun,
                            const os::Descriptor& until) {
  return wait_for_end_of(
      relays, [&] { return time_left(watch, begun); },
      [&](std::optional<nanoseconds> left) {
        std::vector<pollfd> polled{{until.number(), POLLIN, 0}};
        relays.wait(polled, left);
        return polled.front().revents == 0;
      },
      [&] { return relays.end_holders(os::all_other_processes, false); });
}

CommandEnd run_supervised(std::vector<std::string> command, const Watch& watch) {
  const auto arguments = os::pointers_to(command);
  std::signal(SIGCHLD, SIG_DFL); // NOLINT(cert-err33-c): if it was ignored, there would be no status to wait for
  if (watch.page != nullptr) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  const sigset_t& before = signals_of_commands();
  const sigset_t waited = waited_for();
  ::sigprocmask(SIG_BLOCK, &waited, nullptr);
  Relays relays{(watch.limit.count() > 0 || watch.withholds_output) && watch.page != nullptr, watch.withholds_output};
  SignalsAndOutput sources{relays};
  if (!sources.can_wait()) {
    return {errno};
  }
  ProcessGroup group{watch.page != nullptr};

  static_cast<void>(std::fflush(nullptr)); // the command writes behind it
  const auto begun = KernelClock::now();
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
    group.separate_command();
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
      ::dup2(relays.output_for(stream), stream);
    }
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    ::execvp(arguments.front(), arguments.data());
    error = errno; // in the watcher's memory
    ::_exit(127);
  }
  group.leave();
  relays.close_write_ends();
  bool attempt_has_ended = false;
  const auto look_for_stop = [&] {
    if (!attempt_has_ended && watch.page != nullptr && watch.page->is_stopped()) {
      attempt_has_ended = true;
      end_attempt(*watch.page);
    }
  };
  const auto pass_on = [&](std::optional<nanoseconds> limit) { // when the command has ended
    look_for_stop();
    if (const auto info = sources.wait(limit); info && info->ssi_signo != SIGCHLD) {
      sources.end_by(*info);
    }
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    return true;
  };
  const auto end_holders = [&] { return relays.end_holders([] { return descendants(); }, true); };
  auto next_call = begun;
  std::optional<KernelClock::time_point> signalled; // when its limit was over
  const auto left_now = [&] {
    const auto left = time_left(watch, begun);
    return signalled ? std::optional<nanoseconds>{*signalled + watch.grace - KernelClock::now()} : left;
  };
  for (;;) {
    int status = 0;
    pid_t ended = 0;
    do { // also what the command has left behind
      ended = ::waitpid(-1, &status, WNOHANG);
    } while (ended > 0 && ended != child);
    if (ended < 0) {
      throw Error{"the end of its command cannot be waited for (waitpid): " + std::generic_category().message(errno)};
    }
    if (ended == child) {
      CommandEnd end{error, WIFEXITED(status) ? WEXITSTATUS(status) : 0, WIFSIGNALED(status) ? WTERMSIG(status) : 0};
      if (attempt_has_ended) { // by this process, if by a signal
        end.status = EXIT_FAILURE;
        end.signal = 0;
      }
      const auto is_stopped = [&] {
        return watch.page != nullptr && policy::runs_again(watch.page->report(), end.signal);
      };
      if (is_stopped()) {
        end_descendants();
      }
      end.process = child;
      const auto left_behind = wait_for_end_of(relays, left_now, pass_on, end_holders);
      end.left_behind = signalled ? "" : left_behind;
      end.timed_out = signalled || !left_behind.empty();
      end.runs_again = !end.timed_out && is_stopped(); // also one that it had left
      if (end.runs_again) {
        relays.drop_withheld();
      }
      return end;
    }
    look_for_stop();
    group.follow_parent(child);
    auto left = left_now();
    if (left && *left <= nanoseconds{0} && watch.first_signal != 0 && !signalled && !is_parent_stopped()) {
      ::kill(child, watch.first_signal);
      signalled = KernelClock::now();
      left = left_now();
    }
    if (left && *left <= nanoseconds{0} && !is_parent_stopped()) {
      end_descendants();
      static_cast<void>(wait_for_end_of(relays, left_now, pass_on, end_holders)); // what was written before
      return {0, 0, SIGKILL, true};
    }
    if (watch.on_interval && KernelClock::now() >= next_call) {
      watch.on_interval();
      next_call = KernelClock::now() + watch.interval;
    }
    if (left) { // it may be over, and the parent stopped
      left = std::max(*left, nanoseconds{shortest_sleep});
    }
    if (watch.on_interval || watch.page != nullptr) { // time_left() is to see when a wait begins
      left = std::min(left.value_or(watch.interval), nanoseconds{watch.interval});
    }
    if (const auto info = sources.wait(left); info && info->ssi_signo != SIGCHLD) {
      if (info->ssi_code != SI_KERNEL || !group.shares_terminal()) {
        group.pass_on(static_cast<int>(info->ssi_signo), child);
      }
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

void block_in_this_process(int signal) {
  sigset_t set{};
  ::sigemptyset(&set);
  ::sigaddset(&set, signal);
  static_cast<void>(block_also(set));
}

void execute(std::vector<std::string> command, std::vector<std::string> environment) {
  ::sigprocmask(SIG_SETMASK, &signals_of_commands(), nullptr);
  const auto pointers = os::pointers_to(command);
  ::execve(pointers.front(), pointers.data(), os::pointers_to(environment).data());
  std::_Exit(127);
}

} // namespace gputest::supervise
