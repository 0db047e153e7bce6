// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/user_name.hpp"

#include <cerrno>
#include <vector>

#include <pwd.h>

namespace gputest::os {

std::string user_name(std::uint32_t uid) {
  constexpr std::size_t max_bytes = 1U << 20U; // an entry beyond 1 MiB is not worth its name
  std::vector<char> buffer(1024);
  passwd entry{};
  passwd* found = nullptr;
  while (getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == ERANGE && buffer.size() < max_bytes) {
    buffer.resize(buffer.size() * 2);
  }
  return found != nullptr ? std::string{entry.pw_name} : std::to_string(uid);
}

} // namespace gputest::os
