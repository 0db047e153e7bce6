// SPDX-License-Identifier: BSD-3-Clause
#include "supervise/orphan.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::supervise {

namespace {

void close_range(unsigned first, unsigned last) {
  if (first <= last && ::syscall(SYS_close_range, first, last, 0) != 0) {
    for (unsigned number = first; number <= std::min(last, 65535U); ++number) {
      ::close(static_cast<int>(number));
    }
  }
}

/// Closes all that this process has inherited, but what it needs. The standard streams become /dev/null, or nothing.
void close_all_but(std::vector<int> kept) {
  int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) { // one that can be neither read nor written, so that no other file gets the streams' numbers
    null = ::open("/", O_PATH | O_CLOEXEC);
  }
  for (int stream = 0; stream <= STDERR_FILENO; ++stream) {
    ::dup2(null, stream);
  }
  std::sort(kept.begin(), kept.end());
  unsigned first = STDERR_FILENO + 1;
  for (const int number : kept) {
    close_range(first, static_cast<unsigned>(number) - 1);
    first = static_cast<unsigned>(number) + 1;
  }
  close_range(first, ~0U);
}

} // namespace

Orphaning become_an_orphan(std::vector<int> kept_descriptors) {
  const pid_t child = ::fork();
  if (child < 0) {
    return Orphaning::failed;
  }
  if (child > 0) {
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
      errno = WEXITSTATUS(status);
      return Orphaning::failed;
    }
    return Orphaning::in_caller; // of one that was killed, nobody knows
  }
  ::setsid();
  if (const pid_t orphan = ::fork(); orphan != 0) {
    std::_Exit(orphan > 0 ? 0 : errno);
  }
  close_all_but(std::move(kept_descriptors));
  return Orphaning::in_orphan;
}

} // namespace gputest::supervise
