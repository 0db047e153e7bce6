// SPDX-License-Identifier: BSD-3-Clause
#include "workers/wait_status.hpp"

#include <gputest/outcome.hpp>

#include <csignal>
#include <cstring>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::workers {

std::string describe_end(int status) {
  return WIFSIGNALED(status) ? std::string{"by the signal "} + ::strsignal(WTERMSIG(status)) // NOLINT: one thread
                             : "with the exit code " + std::to_string(WEXITSTATUS(status));
}

int end_as(int status) {
  if (!WIFSIGNALED(status)) {
    return WEXITSTATUS(status);
  }
  const int signal = WTERMSIG(status);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  std::signal(signal, SIG_DFL); // NOLINT(cert-err33-c)
  sigset_t set{};
  ::sigemptyset(&set);
  ::sigaddset(&set, signal);
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
  ::kill(::getpid(), signal);
  return 128 + signal;
}

bool does_not_fail(int exit_code) { return exit_code == EXIT_SUCCESS || exit_code == skipped_exit_code; }

} // namespace gputest::workers
