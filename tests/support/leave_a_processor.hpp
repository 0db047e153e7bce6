// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sched.h>

namespace gputest::tests {

/// Lets this process run on one processor less. False if it has no other one.
inline bool leave_a_processor() {
  cpu_set_t processors;
  ::sched_getaffinity(0, sizeof processors, &processors);
  for (int number = 0; number < CPU_SETSIZE; ++number) {
    if (CPU_ISSET(number, &processors)) {
      CPU_CLR(number, &processors);
      break;
    }
  }
  return CPU_COUNT(&processors) > 0 && ::sched_setaffinity(0, sizeof processors, &processors) == 0;
}

} // namespace gputest::tests
