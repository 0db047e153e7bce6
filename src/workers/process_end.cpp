// SPDX-License-Identifier: BSD-3-Clause
#include "workers/process_end.hpp"

#include <gputest/outcome.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::workers {

std::string describe_end(int status) {
  return WIFSIGNALED(status) ? std::string{"by the signal "} + ::strsignal(WTERMSIG(status)) // NOLINT: one thread
                             : "with the exit code " + std::to_string(WEXITSTATUS(status));
}

bool does_not_fail(int exit_code) { return exit_code == EXIT_SUCCESS || exit_code == skipped_exit_code; }

void end_by_signal(int signal) {
  std::fflush(stdout); // NOLINT(cert-err33-c): nothing else can be done
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  std::signal(signal, SIG_DFL); // NOLINT(cert-err33-c)
  sigset_t set{};
  ::sigemptyset(&set);
  ::sigaddset(&set, signal);
  ::kill(::getpid(), signal);
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  std::_Exit(128 + signal); // a signal whose default is not to end a process
}

} // namespace gputest::workers
