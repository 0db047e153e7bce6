#include "tool.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::cli {

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

/// Closed on exec: a run must not hold the pipes of another one.
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

} // namespace

Running::Running(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& environment) {
  std::vector<std::string> words{Tool::path()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables;
  variables.reserve(environment.size());
  for (const auto& [name, value] : environment) {
    variables.push_back(std::string{name}.append("=").append(value));
  }
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> result;
    result.reserve(texts.size() + 1);
    for (auto& text : texts) {
      result.push_back(text.data());
    }
    result.push_back(nullptr);
    return result;
  };
  const auto argv = pointers(words);
  const auto envp = pointers(variables);

  Pipe in = make_pipe();
  Pipe out = make_pipe();
  Pipe err = make_pipe();
  pid_ = ::fork();
  check(pid_ >= 0, "fork");
  if (pid_ == 0) {
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

Running::~Running() {
  close_input();
  close_end(out_.descriptor);
  close_end(err_.descriptor);
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

void Running::close_input() { close_end(input_); }

void Running::kill(int signal) const { check(::kill(pid_, signal) == 0, "kill"); }

void Running::read_more() {
  std::array<Stream*, 2> streams{&out_, &err_};
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

void Running::wait_for(Stream& stream, const std::string& text) {
  while (stream.text.find(text) == std::string::npos) {
    if (stream.descriptor < 0) {
      throw std::runtime_error{"it ended without saying '" + text + "'\nstdout: " + out_.text +
                               "\nstderr: " + err_.text};
    }
    read_more();
  }
}

void Running::wait_for_end_of_streams() {
  while (out_.descriptor >= 0 || err_.descriptor >= 0) {
    read_more();
  }
}

Ended Running::finish() {
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

Tool::Tool() {
  // Only what is here: a developer's own settings, and the ctest that runs this test, must not decide.
  const char* const path = std::getenv("PATH");
  environment_ = {{"PATH", path != nullptr ? path : "/usr/bin:/bin"},
                  {"GPUTEST_DEVICES", "simulated:1x16GiB"},
                  {"GPUTEST_DIR", ledger()},
                  {"GPUTEST_RUN_MODE", "serial"}};
  // Sanitizers are told by variables where to look for what.
  for (const char* const name : {"ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"}) {
    if (const char* const value = std::getenv(name); value != nullptr) {
      environment_[name] = value;
    }
  }
}

std::string Tool::path() {
  const char* const path = std::getenv("GPUTEST_CLI");
  return path != nullptr ? path : GPUTEST_CLI;
}

} // namespace gputest::cli
