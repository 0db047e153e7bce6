// SPDX-License-Identifier: BSD-3-Clause
// Runs a command as a debugger does that lets it go on, and ends with its exit code.
#include <csignal>
#include <cstdlib>

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int /*argc*/, char** argv) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::execv(argv[1], argv + 1);
    std::_Exit(127);
  }
  for (int status = 0; ::waitpid(child, &status, 0) == child;) {
    if (!WIFSTOPPED(status)) {
      return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
    }
    ::ptrace(PTRACE_CONT, child, nullptr, WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status));
  }
  return EXIT_FAILURE;
}
