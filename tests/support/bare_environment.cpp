// SPDX-License-Identifier: BSD-3-Clause
#include "support/bare_environment.hpp"

#include <cstdlib>

namespace gputest::tests {

ChildProcess::Environment bare_environment() {
  ChildProcess::Environment environment{{"PATH", "/usr/bin:/bin"}};
  for (const char* const name : {"PATH", "ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"}) {
    if (const char* const value = std::getenv(name); value != nullptr) {
      environment[name] = value;
    }
  }
  return environment;
}

} // namespace gputest::tests
