// SPDX-License-Identifier: BSD-3-Clause
// Programs that use a GPU, or do not, as far as their files tell. Each says whether the launcher has given it a lease.

#include <cstdio>
#include <cstdlib>

#ifdef LOADS
#include <dlfcn.h>
#endif

#ifdef NAMES
const volatile char* named = NAMES;
#endif

#ifdef HAS_SESSION
#include <gputest/session.hpp>
#endif

#ifdef CALLS
extern "C" int CALLS();
#endif

#ifdef IS_LIBRARY
extern "C" int IS_LIBRARY() {
#else
int main(int argc, char** argv) {
  for (int index = 1; index < argc; ++index) {
    std::puts(argv[index]);
  }
  std::puts(std::getenv("GPUTEST_LEASE_OF") != nullptr ? "has a lease" : "has no lease");
#endif
  int result = 0;
#ifdef CALLS
  result += CALLS();
#endif
#ifdef LOADS
  result += ::dlopen(LOADS, RTLD_LAZY) == nullptr ? 0 : 1;
#endif
#ifdef HAS_SESSION
  const auto session = gputest::Session::from_environment();
  result += session.devices().empty() ? 0 : 1;
#endif
  return result;
}
