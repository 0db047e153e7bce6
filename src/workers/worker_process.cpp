// SPDX-License-Identifier: BSD-3-Clause
#include "workers/worker_process.hpp"

#include "core/os/environment.hpp"
#include "core/os/process.hpp"
#include "supervise/descendants.hpp"
#include "supervise/events.hpp"
#include "supervise/supervised_command.hpp"
#include "workers/worker_message.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::workers {

namespace {

using namespace supervise; // NOLINT(google-build-using-namespace)
constexpr std::chrono::seconds longest_start{60};

std::string error_of(const char* call) { return std::string{call} + ": " + ::strerror(errno); } // NOLINT: one thread

} // namespace

WorkerProcess::WorkerProcess(const MeetingPlace& place, const TestCase& test, const MpsServer& server)
    : place_{place}, test_{test}, server_{server}, children_{::open("/proc/thread-self",
                                                                    O_RDONLY | O_DIRECTORY | O_CLOEXEC)} {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &pipe_);
  struct sigaction normal {};
  normal.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &normal, &child_);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

std::string WorkerProcess::start(const std::string& why) try {
  page_.emplace();
  said_ = os::Descriptor{::memfd_create("gputest-worker-start", MFD_CLOEXEC)};
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return error_of("socketpair");
  }
  socket_ = os::Descriptor{ends[0]};
  os::Descriptor other{ends[1]};
  const pid_t supervisor = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) {
    become_worker(std::move(other), supervisor, why);
  }
  if (pid_ < 0) {
    pid_ = 0;
    return error_of("fork");
  }
  end_ = open_pidfd(pid_);
  if (!end_) {
    auto problem = error_of("pidfd_open");
    kill_all();
    return problem;
  }
  return {};
} catch (const Error& error) { // no memory for the page
  return error.what();
}

/// Where the worker of this supervisor writes it for every case.
std::string WorkerProcess::report_of(pid_t supervisor) const {
  return place_.path + "/report-" + std::to_string(supervisor);
}

void WorkerProcess::copy_report(const std::string& to) const {
  namespace fs = std::filesystem;
  std::error_code error;
  if (const auto from = report_of(::getpid()); fs::exists(from, error)) {
    fs::create_directories(fs::path{to}.parent_path(), error);
    fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  }
}

void WorkerProcess::become_worker(os::Descriptor socket, pid_t supervisor, const std::string& why) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != supervisor) {
    std::_Exit(EXIT_FAILURE);
  }
  ::sigaction(SIGPIPE, &pipe_, nullptr);
  ::sigaction(SIGCHLD, &child_, nullptr);
  ::dup2(said_.number(), STDOUT_FILENO);
  ::dup2(said_.number(), STDERR_FILENO);
  std::vector<std::string> texts{test_.command.front(), "--gtest_filter=-*"}; // another main() runs no test
  if (!test_.report.empty()) {
    texts.push_back("--gtest_output=" + test_.report_format + ":" + report_of(supervisor));
  }
  texts.insert(texts.end(), test_.arguments.begin(), test_.arguments.end());
  std::vector<std::string> variables;
  for (auto& assignment : os::environment()) {
    if (assignment.compare(0, 8, "GPUTEST_") != 0 ||
        std::find(test_.variables.begin(), test_.variables.end(), assignment) == test_.variables.end()) {
      variables.push_back(std::move(assignment));
    }
  }
  variables.push_back("GPUTEST_WORKER=" + std::to_string(worker_protocol) + ":" + std::to_string(socket.number()) +
                      ":" + place_.run_name.substr(0, place_.run_name.find('-')) +
                      (server_.owner() == Mps::none ? ":own:" : ":shared:") + page_->path() + ":" + why);
  if (!server_.folder().empty()) {
    variables.push_back("CUDA_MPS_PIPE_DIRECTORY=" + server_.folder());
  }
  ::fcntl(socket.number(), F_SETFD, 0);
  execute(std::move(texts), std::move(variables));
}

std::string WorkerProcess::wait_until_ready() {
  const auto until = Clock::now() + longest_start;
  const auto left = [&] {
    return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()),
                    std::chrono::milliseconds{0});
  };
  Events events;
  events.add(socket_).add(end_).add(place_.ctest).wait(left());
  WorkerMessage message;
  if (events.is_ready(0) && receive_message(socket_.number(), message) == Received::message) {
    if (message.kind == WorkerMessage::Kind::ready) {
      return {};
    }
    if (message.kind == WorkerMessage::Kind::own_process && !message.texts.empty()) {
      kill_all();
      return message.texts.front();
    }
  }
  Events end; // it may have closed the socket, and go on
  end.add(end_).add(place_.ctest).wait(left());
  if (end.is_ready(0)) {
    return "its executable ended " + describe_end(wait_for_status()) + " before it came to gputest::run_all_tests()";
  }
  kill_all();
  return "its executable did not come to its tests within a minute";
}

std::string WorkerProcess::take_output() {
  auto text = read_from(said_, taken_);
  taken_ += static_cast<off_t>(text.size());
  return text;
}

int WorkerProcess::wait_for_status() {
  int status = 0;
  if (pid_ > 0) {
    ::waitpid(pid_, &status, 0);
  }
  pid_ = 0;
  return status;
}

std::set<pid_t> WorkerProcess::children() const {
  const auto words = contents_of(children_, "children");
  std::set<pid_t> found;
  const char* at = words.c_str();
  for (char* end = nullptr;; at = end) {
    const auto pid = static_cast<pid_t>(std::strtol(at, &end, 10));
    if (end == at) {
      return found;
    }
    found.insert(pid);
  }
}

void WorkerProcess::kill_all() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL); // also where no descriptor is left to look for the others
  }
  const std::vector<pid_t> spared{left_.begin(), left_.end()};
  if (!end_descendants(spared)) { // some start others faster than they are found: they have no end to wait for
    static_cast<void>(wait_for_status());
    return;
  }
  pid_ = 0;
  // Those whose parents were killed with them become this process's own.
  if (spared.empty()) {
    while (::waitpid(-1, nullptr, 0) > 0) {
    }
    return;
  }
  for (bool any = true; any;) {
    any = false;
    for (const pid_t pid : children()) {
      any = (left_.count(pid) == 0 && ::waitpid(pid, nullptr, 0) == pid) || any;
    }
  }
}

std::string WorkerProcess::left_behind() {
  std::string found;
  for (const pid_t pid : children()) {
    if (pid == pid_) {
      continue;
    }
    if (::waitpid(pid, nullptr, WNOHANG) != 0) {
      left_.erase(pid); // it has ended
    } else if (left_.insert(pid).second) {
      found += (found.empty() ? "" : ", ") + os::name_of_process(pid);
    }
  }
  return found;
}

} // namespace gputest::workers
