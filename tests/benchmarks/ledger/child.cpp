// SPDX-License-Identifier: BSD-3-Clause
#include "child.hpp"

#include "core/os/file.hpp"
#include "failure.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace gputest::benchmarks {

Child::Child(const std::function<void()>& work) {
  const pid_t parent = ::getpid();
  pid_ = must(::fork(), "fork");
  if (pid_ != 0) {
    return;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) { // it ended before it could be watched
    ::_exit(1);
  }
  try {
    work();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    ::_exit(1);
  }
  ::_exit(0);
}

Child::Child(Child&& other) noexcept : pid_{std::exchange(other.pid_, 0)} {}

Child::~Child() {
  if (pid_ > 0) {
    kill();
    ::waitpid(pid_, nullptr, 0);
  }
}

void Child::kill() const { ::kill(pid_, SIGKILL); }

void Child::wait_until_asleep() const {
  for (;;) {
    std::ifstream file{"/proc/" + std::to_string(pid_) + "/stat"};
    std::string stat;
    std::getline(file, stat);
    const auto name_end = stat.rfind(')'); // the name may hold anything
    const char state = name_end == std::string::npos ? 'X' : stat.at(name_end + 2);
    if (state == 'S') {
      return;
    }
    if (state == 'Z' || state == 'X') {
      throw std::runtime_error{"a process of the benchmark has ended before its time"};
    }
    std::this_thread::sleep_for(std::chrono::microseconds{100});
  }
}

bool Child::ended_within(std::chrono::milliseconds limit) {
  // By number: the C library has no function of this name before glibc 2.36.
  const os::Descriptor process{static_cast<int>(must(::syscall(SYS_pidfd_open, pid_, 0), "watch a process"))};
  pollfd file{process.number(), POLLIN, 0};
  if (::poll(&file, 1, static_cast<int>(limit.count())) != 1) {
    return false;
  }
  int status = 0;
  ::waitpid(std::exchange(pid_, 0), &status, 0);
  if (status != 0) {
    throw std::runtime_error{"a process of the benchmark has failed"};
  }
  return true;
}

} // namespace gputest::benchmarks
