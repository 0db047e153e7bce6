// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include <unistd.h>

namespace gputest::tests {

/// Closes what this process has open of a file, as a test does that closes what is not its own. Returns the number that
/// it had, -1 if there was none.
inline int close_files(const std::string& path) {
  int closed = -1;
  for (int number = 0; number < 1024; ++number) {
    std::error_code ignored;
    if (std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(number), ignored) == path) {
      ::close(number);
      closed = number;
    }
  }
  return closed;
}

} // namespace gputest::tests
