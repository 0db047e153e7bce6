// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/process_end.hpp"

#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace gputest::os {

void write_what_was_printed() {
  std::cout.flush();
  std::clog.flush();
  std::fflush(stdout); // NOLINT(cert-err33-c): nothing else can be done
}

void call_at_exit(void (*handler)(int status)) {
  // Unlike atexit(), on_exit() tells the status. An exit(1) in the middle of a test is a failure already.
  static_cast<void>(
      ::on_exit([](int status, void* argument) { reinterpret_cast<void (*)(int)>(argument)(status); }, // NOLINT
                reinterpret_cast<void*>(handler)));                                                    // NOLINT
}

void end_now(int status) {
  write_what_was_printed();
  std::_Exit(status);
}

} // namespace gputest::os
