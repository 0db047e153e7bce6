// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/file.hpp"

#include "core/os/descriptor.hpp"
#include "core/policy/text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>

namespace gputest::os {

std::optional<std::string> read_to_end(int descriptor) {
  std::string text;
  std::array<char, 4096> block{};
  for (;;) {
    const auto count = ::read(descriptor, block.data(), block.size());
    if (count == 0) {
      return text;
    }
    if (count > 0) {
      text.append(block.data(), static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return std::nullopt;
    }
  }
}

std::optional<std::string> contents_of(const std::string& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  return read_to_end(file.number());
}

std::optional<FileStamp> stamp_of(const std::string& path) {
  struct statx file {};
  if (::statx(AT_FDCWD, path.c_str(), 0, STATX_BASIC_STATS | STATX_BTIME, &file) != 0) {
    return std::nullopt;
  }
  const auto nanoseconds = [](const statx_timestamp& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
  };
  const auto birth = (file.stx_mask & STATX_BTIME) != 0 ? nanoseconds(file.stx_btime) : 0;
  return FileStamp{file.stx_size, nanoseconds(file.stx_mtime), file.stx_ino ^ (birth << 8U)};
}

std::optional<std::uint64_t> executable_identity() {
  const auto file = stamp_of("/proc/self/exe");
  if (!file) {
    return std::nullopt;
  }
  const auto text = std::to_string(file->id) + " " + std::to_string(file->bytes) + " " + std::to_string(file->modified);
  return std::max<std::uint64_t>(policy::fnv1a(text), 1);
}

} // namespace gputest::os
