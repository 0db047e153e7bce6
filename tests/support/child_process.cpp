// SPDX-License-Identifier: BSD-3-Clause
#include "support/child_process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::tests {

namespace {

void check(bool good, const char* what) {
  if (!good) {
    throw std::system_error{errno, std::generic_category(), what};
  }
}

struct Pipe {
  int read = -1;
  int write = -1;
};

/// Closed on exec: a child must not keep the pipes of another one open.
Pipe make_pipe() {
  std::array<int, 2> ends{};
  check(::pipe2(ends.data(), O_CLOEXEC) == 0, "pipe2");
  return {ends[0], ends[1]};
}

void close_end(int& descriptor) {
  if (descriptor >= 0) {
    ::close(descriptor);
    descriptor = -1;
  }
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (auto& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

} // namespace

ChildProcess::ChildProcess(std::vector<std::string> command, const Environment& environment) {
  std::vector<std::string> variables;
  variables.reserve(environment.size());
  for (const auto& [name, value] : environment) {
    variables.push_back(std::string{name}.append("=").append(value));
  }
  const auto argv = pointers_to(command);
  const auto envp = pointers_to(variables);
  // Writing to a child that has ended must be an error of write(), not the end of this test.
  ::signal(SIGPIPE, SIG_IGN);

  Pipe in = make_pipe();
  Pipe out = make_pipe();
  Pipe err = make_pipe();
  pid_ = ::fork();
  check(pid_ >= 0, "fork");
  if (pid_ == 0) {
    ::signal(SIGPIPE, SIG_DFL);
    // If this test was started without one of these streams, a pipe may have its number: not all is done in one pass.
    for (int* const descriptor : {&in.read, &out.write, &err.write}) {
      if (*descriptor <= STDERR_FILENO) {
        *descriptor = ::fcntl(*descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
      }
    }
    ::dup2(in.read, STDIN_FILENO);
    ::dup2(out.write, STDOUT_FILENO);
    ::dup2(err.write, STDERR_FILENO);
    ::execve(argv.front(), argv.data(), envp.data());
    ::_exit(125);
  }
  close_end(in.read);
  close_end(out.write);
  close_end(err.write);
  input_ = in.write;
  out_.descriptor = out.read;
  err_.descriptor = err.read;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_{std::exchange(other.pid_, -1)}, input_{std::exchange(other.input_, -1)}, out_{std::exchange(other.out_, {})},
      err_{std::exchange(other.err_, {})} {}

ChildProcess::~ChildProcess() {
  close_input();
  close_end(out_.descriptor);
  close_end(err_.descriptor);
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

void ChildProcess::say(const std::string& line) {
  const std::string text = line + "\n";
  check(::write(input_, text.data(), text.size()) == static_cast<ssize_t>(text.size()), "write to a child");
}

void ChildProcess::close_input() { close_end(input_); }

void ChildProcess::kill(int signal) const { check(::kill(pid_, signal) == 0, "kill"); }

/// Blocks until one of the streams says something or ends.
void ChildProcess::read_more() {
  const std::array<Stream*, 2> streams{&out_, &err_};
  std::array<pollfd, 2> polled{{{out_.descriptor, POLLIN, 0}, {err_.descriptor, POLLIN, 0}}};
  check(::poll(polled.data(), polled.size(), -1) > 0, "poll");
  for (std::size_t i = 0; i < streams.size(); ++i) {
    if (polled.at(i).revents == 0) {
      continue;
    }
    std::array<char, 4096> buffer{};
    const ssize_t count = ::read(streams.at(i)->descriptor, buffer.data(), buffer.size());
    check(count >= 0, "read");
    streams.at(i)->text.append(buffer.data(), static_cast<std::size_t>(count));
    if (count == 0) {
      close_end(streams.at(i)->descriptor);
    }
  }
}

void ChildProcess::wait_for(Stream& stream, const std::string& text) {
  for (;;) {
    const auto found = stream.text.find(text, stream.seen);
    if (found != std::string::npos) {
      stream.seen = found + text.size();
      return;
    }
    if (stream.descriptor < 0) {
      throw std::runtime_error{"it ended without saying '" + text + "'\nstdout: " + out_.text +
                               "\nstderr: " + err_.text};
    }
    read_more();
  }
}

std::string ChildProcess::read_line() {
  const std::size_t begin = out_.seen;
  wait_for(out_, "\n");
  return out_.text.substr(begin, out_.seen - begin - 1);
}

void ChildProcess::wait_for_end_of_streams() {
  while (out_.descriptor >= 0 || err_.descriptor >= 0) {
    read_more();
  }
}

Ended ChildProcess::finish() {
  close_input();
  wait_for_end_of_streams();
  int status = 0;
  check(::waitpid(pid_, &status, 0) == pid_, "waitpid");
  pid_ = -1;
  Ended ended;
  ended.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  ended.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  ended.out = out_.text;
  ended.err = err_.text;
  return ended;
}

ChildProcess::Environment bare_environment() {
  ChildProcess::Environment environment{{"PATH", "/usr/bin:/bin"}};
  for (const char* const name : {"PATH", "ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"}) {
    if (const char* const value = std::getenv(name); value != nullptr) {
      environment[name] = value;
    }
  }
  return environment;
}

} // namespace gputest::tests
