// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <system_error>

namespace gputest::tests {

/// Runs `function` in a forked child, which ends with its result as exit status. Returns the child's pid.
template <class Function>
pid_t start_child(Function function) {
  const pid_t child = ::fork();
  if (child == 0) {
    int status = 255;
    try {
      status = function();
    } catch (...) { // NOLINT(bugprone-empty-catch): 255 tells the parent
    }
    ::_exit(status);
  }
  return child;
}

/// Makes something in a forked child, which keeps it and does nothing until it is killed. Returns the child's pid.
///
/// Blocks until it is made; throws if `make` does.
template <class Make>
pid_t start_keeper(Make make) {
  std::array<int, 2> made{};
  if (::pipe(made.data()) != 0) {
    throw std::system_error{errno, std::generic_category(), "pipe"};
  }
  const pid_t child = start_child([&] {
    ::close(made[0]);
    [[maybe_unused]] const auto kept = make();
    static_cast<void>(!::write(made[1], "+", 1));
    for (;;) {
      ::pause();
    }
    return 0;
  });
  ::close(made[1]);
  char said = 0;
  const bool is_made = ::read(made[0], &said, 1) == 1;
  ::close(made[0]);
  if (!is_made) {
    throw std::runtime_error{"a child could not make what it shall keep"};
  }
  return child;
}

/// Blocks until a child has ended. Returns its exit status, or minus the signal that killed it.
inline int end_of(pid_t child) {
  int status = 0;
  if (::waitpid(child, &status, 0) != child) {
    return -1000;
  }
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

template <class Function>
int in_child(Function function) {
  return end_of(start_child(function));
}

/// Gives up root's rights, which no mode of a file holds back, for those of nobody. Nothing to give up for others.
inline void become_nobody() {
  constexpr uid_t nobody = 65534;
  if (::getuid() == 0 && (::setgid(nobody) != 0 || ::setuid(nobody) != 0)) {
    ::_exit(254);
  }
}

} // namespace gputest::tests
