#include "system/program_output.hpp"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::system {

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
  // posix_spawn() changes none of its arguments, whatever its signature says.
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

} // namespace gputest::system
