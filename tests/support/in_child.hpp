#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

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
