// SPDX-License-Identifier: BSD-3-Clause
#include "proofs/steps/actor.hpp"

#include "proofs/steps/actor_program.hpp"
#include "proofs/steps/system_calls.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace gputest::tests {

namespace {

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) {
    throw std::system_error{errno, std::generic_category(), "pipe"};
  }
  return ends;
}

} // namespace

Actor::Actor(Client place, Tracing tracing) : client_{std::move(place)} {
  const auto input = make_pipe();
  const auto output = make_pipe();
  pid_ = ::fork();
  if (pid_ < 0) {
    throw std::system_error{errno, std::generic_category(), "fork"};
  }
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::close(input[1]);
    ::close(output[0]);
    if (tracing == Tracing::by_this_process) {
      ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
      static_cast<void>(::raise(SIGSTOP));
    }
    ::_exit(run_actor_program(client_, input[0], output[1]));
  }
  ::close(input[0]);
  ::close(output[1]);
  to_ = input[1];
  from_ = output[0];
}

Actor::~Actor() {
  kill();
  ::close(to_);
  ::close(from_);
}

void Actor::say(const std::string& line) const {
  const std::string text = line + "\n";
  static_cast<void>(!::write(to_, text.data(), text.size())); // one that has ended will not answer, which is seen
}

bool Actor::read_available() {
  for (;;) {
    pollfd file{from_, POLLIN, 0};
    if (silent_ || ::poll(&file, 1, 0) <= 0) {
      return heard_.find('\n') != std::string::npos;
    }
    std::array<char, 512> piece{};
    const ssize_t size = ::read(from_, piece.data(), piece.size());
    silent_ = size <= 0;
    heard_.append(piece.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  }
}

void Actor::await(bool (*sleeps)(pid_t)) {
  while (!read_available() && !silent_) {
    if (sleeps(pid_)) {
      static_cast<void>(read_available()); // what it said before it fell asleep
      return;
    }
    pollfd file{from_, POLLIN, 0};
    ::poll(&file, 1, 1); // looks again: nothing tells that a process has fallen asleep
  }
}

std::optional<std::string> Actor::hear() {
  await(sleeps_for_ever);
  const auto end = heard_.find('\n');
  if (end == std::string::npos) {
    return std::nullopt;
  }
  const std::string line = heard_.substr(0, end);
  heard_.erase(0, end + 1);
  return line;
}

void Actor::settle() { await(sleeps_in_poll); }

void Actor::rest(bool looks_for_memory, bool mutex_is_taken) const {
  siginfo_t change{};
  while (!sleeps_in_read(pid_) && !(looks_for_memory ? sleeps_in_poll(pid_) : sleeps_for_ever(pid_)) &&
         !(mutex_is_taken && sleeps_for_a_mutex(pid_))) {
    const int changes = WEXITED | WSTOPPED | WNOHANG | WNOWAIT;
    if (::waitid(P_PID, static_cast<id_t>(pid_), &change, changes) != 0 || change.si_pid == pid_) {
      return;
    }
    ::sched_yield();
  }
}

void Actor::stop() const {
  ::kill(pid_, SIGSTOP);
  siginfo_t change{};
  ::waitid(P_PID, static_cast<id_t>(pid_), &change, WEXITED | WSTOPPED | WNOWAIT);
}

void Actor::go_on() const { ::kill(pid_, SIGCONT); }

std::string Actor::ask(const std::string& line) {
  say(line);
  const auto answer = hear();
  if (!answer) {
    throw std::runtime_error{"process " + std::to_string(number()) + (silent_ ? " ended" : " fell asleep") +
                             " without an answer to: " + line};
  }
  return *answer;
}

void Actor::kill() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) == pid_ && !WIFSIGNALED(status) && !WIFEXITED(status)) {
    }
    pid_ = -1;
  }
}

} // namespace gputest::tests
