// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/read_file.hpp"

#include "core/os/descriptor.hpp"

#include <array>
#include <cerrno>

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

} // namespace gputest::os
