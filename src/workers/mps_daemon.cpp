// SPDX-License-Identifier: BSD-3-Clause
#include "workers/mps_daemon.hpp"

#include "core/os/environment.hpp"
#include "supervise/descendants.hpp"
#include "supervise/events.hpp"
#include "supervise/orphan.hpp"
#include "supervise/supervised_command.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::workers {

namespace {

using namespace supervise; // NOLINT(google-build-using-namespace)
constexpr milliseconds server_start_limit{2'000};
constexpr milliseconds between_looks{5};
constexpr milliseconds between_looks_of_owner{1'000};
constexpr const char* program = "nvidia-cuda-mps-control";

/// What the daemon inherits. It serves all workers of the run, so nothing of the case that happens to start it.
bool is_passed_on(const std::string& assignment) {
  // With CUDA_VISIBLE_DEVICES it would give the devices other numbers, for all its clients.
  constexpr std::array of_case{"CUDA_", "GPUTEST_", "LD_"};
  return std::none_of(std::begin(of_case), std::end(of_case),
                      [&](const char* start) { return assignment.rfind(start, 0) == 0; });
}

[[noreturn]] void become_daemon(const std::string& path, const MpsDaemon& daemon, pid_t owner) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != owner) {
    std::_Exit(EXIT_FAILURE);
  }
  cpu_set_t all{};
  for (int number = 0; number < CPU_SETSIZE; ++number) {
    CPU_SET(number, &all);
  }
  ::sched_setaffinity(0, sizeof all, &all); // as far as its user may
  ::umask(077);
  const int output = ::openat(daemon.folder.number(), "output", O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  auto variables = os::environment();
  variables.erase(
      std::remove_if(variables.begin(), variables.end(), [](const auto& one) { return !is_passed_on(one); }),
      variables.end());
  variables.push_back("CUDA_MPS_PIPE_DIRECTORY=" + daemon.path);
  variables.push_back("CUDA_MPS_LOG_DIRECTORY=" + daemon.path);
  execute({path, "-f"}, std::move(variables));
}

/// Blocks until the daemon is not needed any more, or has ended.
void wait_until_unused(const Descriptor& ctest, const Descriptor& end, const MpsDaemon& daemon,
                       const Descriptor& clients) {
  for (;;) {
    Events events;
    const bool any = events.add(ctest).add(end).wait(between_looks_of_owner);
    if (any && events.is_ready(1)) {
      return;
    }
    if (any) {
      wait_until_none_is_present(clients); // they end with ctest, as programs do
      return;
    }
    if (is_there(daemon.folder, "given_up") && count_present(daemon.folder, "clients") == 0) {
      return;
    }
  }
}

/// Leaves the owner behind. False if there can be no process.
bool start_owner(const MeetingPlace& place, const MpsDaemon& daemon) {
  const auto path = mps_control_program();
  const auto made = become_an_orphan({place.ctest.number(), daemon.folder.number()});
  if (made != Orphaning::in_orphan) {
    return made == Orphaning::in_caller;
  }
  static_cast<void>(::chdir("/") != 0);
  ::prctl(PR_SET_NAME, "gputest-mps");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1); // the server becomes its child when the daemon is killed
  const PresenceLock owner{daemon.folder, "owner"};
  // Opened now: at the end of ctest another process removes the names.
  const auto clients = open_lock_file(daemon.folder, "clients");
  const pid_t self = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    become_daemon(path, daemon, self);
  }
  if (const auto end = open_pidfd(child)) {
    wait_until_unused(place.ctest, end, daemon, clients);
  }
  if (child > 0) {
    ::kill(child, SIGKILL);
  }
  end_descendants();
  while (::waitpid(-1, nullptr, 0) > 0) {
    end_descendants(); // the server
  }
  std::_Exit(EXIT_SUCCESS);
}

std::string last_line_of(std::string text) {
  text.resize(text.find_last_not_of('\n') + 1);
  return text.substr(text.rfind('\n') + 1);
}

} // namespace

std::string mps_control_program() {
  const auto places = os::variable("PATH") + ":/usr/bin:/usr/local/nvidia/bin:/usr/local/cuda/bin";
  for (std::size_t at = 0; at < places.size();) {
    const auto end = std::min(places.find(':', at), places.size());
    auto path = places.substr(at, end - at) + "/" + program;
    if (path.front() == '/' && ::access(path.c_str(), X_OK) == 0) {
      return path;
    }
    at = end + 1;
  }
  return {};
}

bool has_mps_daemon(const Descriptor& folder) {
  const auto address = address_in(folder, "control");
  for (const int type : {SOCK_SEQPACKET, SOCK_STREAM}) {
    const Descriptor socket{::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 || // NOLINT
        errno == EAGAIN) { // others wait for it, too
      return true;
    }
  }
  return false;
}

std::string start_mps_daemon(const MeetingPlace& place, const MpsDaemon& daemon) {
  const auto until = Clock::now() + server_start_limit;
  const auto lock = open_lock_file(daemon.folder, "start");
  bool is_starter = false;
  while (!has_mps_daemon(daemon.folder)) {
    const bool has_owner = count_present(daemon.folder, "owner") > 0;
    if (!lock || Clock::now() >= until || is_ready(place.ctest) ||
        (is_starter && !has_owner && is_there(daemon.folder, "output"))) {
      const auto why = last_line_of(contents_of(daemon.folder, "output"));
      return std::string{program} + " did not start" + (why.empty() ? "" : ": " + why);
    }
    if (!is_starter && ::flock(lock.number(), LOCK_EX | LOCK_NB) == 0) {
      is_starter = true;
      if (!has_owner) {
        for (const char* const left : {"control", "output"}) { // by one that was killed
          ::unlinkat(daemon.folder.number(), left, 0);
        }
        if (!start_owner(place, daemon)) {
          return std::string{program} + " did not start: " + ::strerror(errno); // NOLINT: one thread
        }
      }
    }
    Events{}.add(place.ctest).wait(between_looks);
  }
  return {};
}

} // namespace gputest::workers
