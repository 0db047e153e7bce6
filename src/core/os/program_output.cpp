// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/program_output.hpp"

#include "core/os/descriptor.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::os {

namespace {

// Streams of a program that reads nothing, complains to nobody and writes into a pipe.
class Streams {
public:
  explicit Streams(int output) {
    usable_ = ::posix_spawn_file_actions_init(&actions_) == 0;
    if (!usable_)
      return;
    usable_ = ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
              ::posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO) == 0 &&
              ::posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0;
  }
  ~Streams() { ::posix_spawn_file_actions_destroy(&actions_); }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return usable_ ? &actions_ : nullptr; }

private:
  posix_spawn_file_actions_t actions_{};
  bool usable_ = false;
};

pid_t start(const std::vector<std::string>& command, int output) {
  const Streams streams{output};
  if (streams.get() == nullptr)
    return -1;
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  // posix_spawn() changes none of its arguments, although its signature would allow it.
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = -1;
  return ::posix_spawn(&pid, command.front().c_str(), streams.get(), nullptr, arguments.data(), environ) == 0 ? pid
                                                                                                              : -1;
}

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 4096> block{};
  while (true) {
    const ssize_t count = ::read(descriptor, block.data(), block.size());
    if (count > 0)
      text.append(block.data(), static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR))
      return text;
  }
}

[[noreturn]] void be_the_child(int out, const std::function<std::string()>& answer) {
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
  ::_exit(0); // no destructor or handler of the parent's may run here
}

/// All that comes out of the pipe; nullopt if it does not end in time.
std::optional<std::string> read_all_until(int in, std::chrono::steady_clock::time_point end) {
  std::string text;
  std::array<char, 4096> block{};
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd file{in, POLLIN, 0};
    const int ready = left.count() > 0 ? ::poll(&file, 1, static_cast<int>(left.count())) : 0;
    if (ready < 0 && errno == EINTR) {
      continue;
    }
    if (ready <= 0) {
      return std::nullopt;
    }
    const auto size = ::read(in, block.data(), block.size());
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size <= 0) {
      return text;
    }
    text.append(block.data(), static_cast<std::size_t>(size));
  }
}

bool ended_well(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0)
    if (errno != EINTR)
      return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace

std::optional<std::string> output_of(const std::vector<std::string>& command) {
  std::array<int, 2> ends{};
  if (command.empty() || ::pipe2(ends.data(), O_CLOEXEC) != 0)
    return std::nullopt;
  const pid_t pid = start(command, ends[1]);
  ::close(ends[1]);
  std::optional<std::string> output;
  if (pid > 0)
    output = read_all(ends[0]);
  ::close(ends[0]);
  if (pid > 0 && !ended_well(pid))
    return std::nullopt;
  return output;
}

int become(std::vector<std::string> command) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (auto& argument : command) {
    arguments.push_back(argument.data());
  }
  arguments.push_back(nullptr);
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
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return {ChildAnswer::Kind::no_child, "no pipe can be made"};
  }
  const Descriptor in{ends[0]};
  Descriptor out{ends[1]};
  const pid_t child = ::fork();
  if (child < 0) {
    return {ChildAnswer::Kind::no_child, "no process can be forked"};
  }
  if (child == 0) {
    be_the_child(out.number(), answer);
  }
  out = Descriptor{};
  auto text = read_all_until(in.number(), std::chrono::steady_clock::now() + longest);
  if (!text) {
    ::kill(child, SIGKILL);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!text) {
    return {ChildAnswer::Kind::late, {}};
  }
  return {text->empty() && WIFSIGNALED(status) ? ChildAnswer::Kind::crashed : ChildAnswer::Kind::answered,
          std::move(*text)};
}

} // namespace gputest::os
