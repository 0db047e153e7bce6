// SPDX-License-Identifier: BSD-3-Clause
#include "metering/background_thread.hpp"

#include <utility>

#include <csignal>

namespace gputest::metering {

std::thread start_background_thread(std::function<void()> function) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before); // a thread begins with its creator's
  try {
    std::thread thread{std::move(function)};
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
  } catch (...) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
}

} // namespace gputest::metering
