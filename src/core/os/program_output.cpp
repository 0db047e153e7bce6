// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/program_output.hpp"

#include "core/os/file.hpp"
#include "core/os/kernel_clock.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::os {

namespace {

/// A forked child, and what it writes.
struct Child {
  pid_t pid = -1;
  Descriptor out;
};

/// Calls `run` with the end of a pipe to write to, in a child that ends with it. No child, pid -1, if there can be
/// none.
Child start(const std::function<void(int out)>& run) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return {};
  }
  Child child{-1, Descriptor{ends[0]}};
  const Descriptor in{ends[1]};
  child.pid = ::fork();
  if (child.pid == 0) {
    run(in.number());
    ::_exit(EXIT_FAILURE); // no destructor or handler of the parent's may run here
  }
  return child;
}

/// Its status as waitpid() tells it.
int end_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

[[noreturn]] void become_with_output(std::vector<std::string> command, int out) {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(null, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(null, STDERR_FILENO);
  const auto arguments = pointers_to(command);
  ::execv(arguments.front(), arguments.data());
  ::_exit(EXIT_FAILURE);
}

void write_answer(const std::function<std::string()>& answer, int out) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL); // it holds copies of its parent's wake-up FIFOs, and must not outlive it
  std::string text;
  try {
    text = answer();
  } catch (const std::exception& error) {
    text = error.what();
  }
  for (std::size_t written = 0; written < text.size();) {
    const auto now = ::write(out, text.data() + written, text.size() - written);
    if (now <= 0) {
      break;
    }
    written += static_cast<std::size_t>(now);
  }
}

/// Whether there is something to read, or the end, before that time.
bool comes_until(int in, KernelClock::time_point end) {
  for (;;) {
    auto left = end - KernelClock::now();
    pollfd file{in, POLLIN, 0};
    const int ready = left.count() > 0 ? KernelClock::poll(&file, 1, left) : 0;
    if (ready >= 0 || errno != EINTR) {
      return ready > 0;
    }
  }
}

/// All that comes out of the pipe; nullopt if it does not end in time.
std::optional<std::string> read_all_until(int in, KernelClock::time_point end) {
  std::string text;
  std::array<char, 4096> block{};
  while (comes_until(in, end)) {
    const auto size = ::read(in, block.data(), block.size());
    if (size == 0 || (size < 0 && errno != EINTR)) {
      return text;
    }
    text.append(block.data(), static_cast<std::size_t>(size > 0 ? size : 0));
  }
  return std::nullopt;
}

} // namespace

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (auto& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

std::optional<std::string> output_of(const std::vector<std::string>& command) {
  const Child child = command.empty() ? Child{} : start([&](int out) { become_with_output(command, out); });
  if (child.pid < 0) {
    return std::nullopt;
  }
  auto output = read_to_end(child.out.number());
  const int status = end_of(child.pid);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? output : std::nullopt;
}

int become(std::vector<std::string> command) {
  const auto arguments = pointers_to(command);
  // What is still in a buffer of this program would be lost with it.
  static_cast<void>(std::fflush(nullptr));
  ::execvp(arguments.front(), arguments.data());
  return errno;
}

int why_not_executable(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return errno;
  }
  return S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0 ? 0 : EACCES;
}

ChildAnswer ask_in_child(const std::function<std::string()>& answer, std::chrono::milliseconds longest) {
  const Child child = start([&](int out) { write_answer(answer, out); });
  if (child.pid < 0) {
    return {ChildAnswer::Kind::no_child, "no process can be forked"};
  }
  auto text = read_all_until(child.out.number(), KernelClock::now() + longest);
  if (!text) {
    ::kill(child.pid, SIGKILL);
    end_of(child.pid);
    return {ChildAnswer::Kind::late, {}};
  }
  const bool crashed = WIFSIGNALED(end_of(child.pid)) && text->empty();
  return {crashed ? ChildAnswer::Kind::crashed : ChildAnswer::Kind::answered, std::move(*text)};
}

} // namespace gputest::os
