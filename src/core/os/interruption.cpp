// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/interruption.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include <sys/ioctl.h>
#include <unistd.h>

namespace gputest::os {

namespace {

sigset_t interruptions() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) { // as of a job in the background
      sigaddset(&signals, signal);
    }
  }
  return signals;
}

} // namespace

Interruption::Interruption() {
  const auto signals = interruptions();
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
}

Interruption::~Interruption() {
  const auto signals = interruptions();
  ::sigprocmask(SIG_UNBLOCK, &signals, nullptr);
}

int Interruption::wait_for(std::chrono::milliseconds time) const {
  const auto signals = interruptions();
  timespec limit{};
  limit.tv_sec = static_cast<time_t>(time.count() / 1000);
  limit.tv_nsec = static_cast<long>(time.count() % 1000 * 1000000);
  const int signal = ::sigtimedwait(&signals, nullptr, &limit);
  return signal > 0 ? signal : 0;
}

void Interruption::end_by(int signal) {
  static_cast<void>(std::fflush(nullptr));
  const auto signals = interruptions();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
  ::sigprocmask(SIG_UNBLOCK, &signals, nullptr); // now it comes
  ::_exit(EXIT_FAILURE);
}

std::size_t columns_of_errors() {
  winsize size{};
  if (::isatty(STDERR_FILENO) != 1) {
    return 0;
  }
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

} // namespace gputest::os
