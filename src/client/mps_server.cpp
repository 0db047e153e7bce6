// SPDX-License-Identifier: BSD-3-Clause
#include "client/mps_server.hpp"

#include "client/events.hpp"
#include "client/orphan.hpp"
#include "client/test_case.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::client {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int most_servers = 3; ///< of one run: a suite that has so many faults gains nothing
constexpr milliseconds longest_start{2'000};
constexpr milliseconds between_looks{5};
constexpr const char* program = "nvidia-cuda-mps-control";
/// In the folder of a server: it has been replaced.
constexpr const char* replaced = "replaced";
/// In the folder of a run: why its workers use no server any more.
constexpr const char* given_up = "without-mps";

std::string name_of(int number) { return "mps-" + std::to_string(number); }

bool is_there(int folder, const char* name) { return ::faccessat(folder, name, F_OK, 0) == 0; }

/// Where the control daemon is; empty: nowhere. Its folder is not in everybody's PATH.
std::string find_program() {
  const auto places = variable("PATH") + ":/usr/bin:/usr/local/nvidia/bin:/usr/local/cuda/bin";
  for (std::size_t at = 0; at < places.size();) {
    const auto end = std::min(places.find(':', at), places.size());
    const auto path = places.substr(at, end - at) + "/" + program;
    if (path.front() == '/' && ::access(path.c_str(), X_OK) == 0) {
      return path;
    }
    at = end + 1;
  }
  return {};
}

/// Where the control daemon of the user's that CUDA would use has its socket; empty: there is none.
std::string folder_of_user() {
  auto folder = variable("CUDA_MPS_PIPE_DIRECTORY");
  if (folder.empty()) {
    folder = "/tmp/nvidia-mps"; // CUDA's default
  }
  return ::access((folder + "/control").c_str(), F_OK) == 0 ? folder : "";
}

/// How many cases of the run are running or waiting now.
std::size_t count_cases(const RunFolder& run) {
  std::size_t count = 0;
  for (const auto& name : names_in(run.run)) {
    if (const auto folder = open_own_folder(run.run.number(), name.c_str());
        folder && is_there(folder.number(), "cases")) {
      count += count_marked(folder, "cases");
    }
  }
  return count;
}

/// The first server that has not been replaced; most_servers: none of them.
int first_server(const Descriptor& run) {
  int number = 0;
  while (number < most_servers && is_there(run.number(), (name_of(number) + "/" + replaced).c_str())) {
    ++number;
  }
  return is_there(run.number(), given_up) ? most_servers : number;
}

/// Whether the run has had a server.
bool has_begun(const RunFolder& run) { return is_there(run.run.number(), name_of(0).c_str()); }

/// Why this worker should have no server of the run's own; empty: no reason.
std::string reason_against(bool is_asked_for) {
  if (!variable("CUDA_MPS_PIPE_DIRECTORY").empty()) {
    return "CUDA_MPS_PIPE_DIRECTORY is set, and there is no control daemon";
  }
  if (find_program().empty()) {
    return std::string{program} + " is not in PATH";
  }
  const auto devices = variable("GPUTEST_DEVICES");
  const bool has_devices = (devices.empty() || devices == "all") && ::access("/dev/nvidiactl", F_OK) == 0;
  return is_asked_for || has_devices ? "" : "there is no device";
}

/// Whether a control daemon accepts connections there.
bool answers(const Descriptor& folder) {
  const auto address = address_in(folder, "control");
  for (const int type : {SOCK_SEQPACKET, SOCK_STREAM}) {
    const Descriptor socket{::socket(AF_UNIX, type | SOCK_CLOEXEC, 0)};
    if (::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) { // NOLINT
      return true;
    }
  }
  return false;
}

/// Becomes the control daemon.
[[noreturn]] void become_daemon(const std::string& path, const std::string& folder, pid_t owner) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != owner) {
    std::_Exit(EXIT_FAILURE);
  }
  std::vector<std::string> texts{path, "-f", "CUDA_MPS_PIPE_DIRECTORY=" + folder, "CUDA_MPS_LOG_DIRECTORY=" + folder};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    // With CUDA_VISIBLE_DEVICES it would give the devices other numbers, for all its processes.
    if (std::strncmp(*entry, "CUDA_", 5) != 0 && std::strncmp(*entry, "GPUTEST_", 8) != 0) {
      texts.emplace_back(*entry);
    }
  }
  std::vector<char*> arguments{texts[0].data(), texts[1].data(), nullptr};
  std::vector<char*> variables;
  for (std::size_t i = 2; i < texts.size(); ++i) {
    variables.push_back(texts[i].data());
  }
  variables.push_back(nullptr);
  ::execve(path.c_str(), arguments.data(), variables.data());
  std::_Exit(127);
}

/// Starts the process that owns a control daemon, and through it the daemon. False if there can be no process.
bool start_owner(const RunFolder& run, const Descriptor& folder, const std::string& path) {
  const auto control = find_program();
  const auto made = become_an_orphan({run.ctest.number(), folder.number()});
  if (made != Orphaning::in_orphan) {
    return made == Orphaning::in_caller;
  }
  static_cast<void>(::chdir("/") != 0);
  ::prctl(PR_SET_NAME, "gputest-mps");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1); // the server becomes its child when the daemon is killed
  const Marked owner{folder, "owner"};
  const pid_t self = ::getpid();
  const pid_t daemon = ::fork();
  if (daemon == 0) {
    become_daemon(control, path, self);
  }
  const Descriptor end{daemon < 0 ? -1 : static_cast<int>(::syscall(SYS_pidfd_open, daemon, 0))};
  Events events;
  events.add(run.ctest).add(end);
  if (end && events.wait(for_ever) && !events.is_ready(1)) {
    wait_until_none_is_marked(folder, "users"); // they end with ctest, as programs do
  }
  if (daemon > 0) {
    ::kill(daemon, SIGKILL);
  }
  while (::waitpid(-1, nullptr, 0) > 0) {
  }
  std::_Exit(EXIT_SUCCESS);
}

/// Blocks until a control daemon answers in the folder, and starts one if there is none. False: there will be none.
bool wait_for_daemon(const RunFolder& run, const Descriptor& folder, const std::string& path) {
  const auto until = Clock::now() + longest_start;
  const Descriptor lock{::openat(folder.number(), "start", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)};
  bool is_starter = false;
  while (!answers(folder)) {
    if (Clock::now() >= until || !lock) {
      return false;
    }
    if (!is_starter && ::flock(lock.number(), LOCK_EX | LOCK_NB) == 0) {
      is_starter = true;
      if (count_marked(folder, "owner") == 0) {
        ::unlinkat(folder.number(), "control", 0); // of one that was killed
        if (!start_owner(run, folder, path)) {
          return false;
        }
      }
    }
    Events{}.add(run.ctest).wait(between_looks);
  }
  return true;
}

} // namespace

MpsServer MpsServer::join(const RunFolder& run) {
  MpsServer server;
  const auto setting = variable("GPUTEST_MPS");
  if (!folder_of_user().empty()) {
    server.number_ = platform::mps_server_of_user;
    return server;
  }
  if (setting == "off") {
    return server;
  }
  if (const auto why = reason_against(setting == "on"); !why.empty()) {
    server.message_ = setting == "on" ? "GPUTEST_MPS=on, but workers use no MPS here: " + why : "";
    return server;
  }
  server.may_have_one_ = true;
  if (setting != "on" && !has_begun(run) && count_cases(run) < 2) {
    return server; // a single process gains nothing
  }
  const int number = first_server(run.run);
  if (number == most_servers) {
    const auto why = contents_of(run.run, given_up);
    server.message_ = "workers use no MPS any more: " +
                      (why.empty() ? std::to_string(most_servers) + " times an error was shared by all" : why);
    return server;
  }
  const auto name = name_of(number);
  ::mkdirat(run.run.number(), name.c_str(), 0700);
  const auto folder = open_own_folder(run.run.number(), name.c_str());
  const auto path = run.path.substr(0, run.path.rfind('/')) + "/" + name;
  Marked user{folder, "users"};
  if (!folder || !wait_for_daemon(run, folder, path)) {
    server.message_ = std::string{program} + " did not start within 2 s";
    write_file(run.run, given_up, server.message_);
    server.message_ = "workers use no MPS: " + server.message_;
    return server;
  }
  server.number_ = number;
  server.path_ = path;
  server.user_ = std::move(user);
  return server;
}

bool MpsServer::is_replaced(const RunFolder& run) const {
  if (!may_have_one_ || !has_begun(run)) {
    return false;
  }
  const int number = first_server(run.run);
  return number_ != (number == most_servers ? platform::no_mps_server : number);
}

void replace_mps_server(const RunFolder& run, int number) {
  if (number >= 0) {
    const auto folder = open_own_folder(run.run.number(), name_of(number).c_str());
    const Descriptor file{::openat(folder.number(), replaced, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)};
  }
}

std::optional<int> count_replaced_mps_servers(const Descriptor& run) {
  if (!is_there(run.number(), name_of(0).c_str())) {
    return std::nullopt;
  }
  int number = 0;
  while (is_there(run.number(), (name_of(number) + "/" + replaced).c_str())) {
    ++number;
  }
  return number;
}

} // namespace gputest::client
