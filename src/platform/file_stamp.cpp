// SPDX-License-Identifier: BSD-3-Clause
#include "platform/file_stamp.hpp"

#include <sys/stat.h>

namespace gputest::platform {

std::optional<FileStamp> stamp_of(const std::string& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) {
    return std::nullopt;
  }
  constexpr std::uint64_t nanoseconds = 1'000'000'000;
  return FileStamp{static_cast<std::uint64_t>(file.st_size),
                   static_cast<std::uint64_t>(file.st_mtim.tv_sec) * nanoseconds +
                       static_cast<std::uint64_t>(file.st_mtim.tv_nsec)};
}

} // namespace gputest::platform
