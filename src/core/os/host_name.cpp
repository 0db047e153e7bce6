// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/host_name.hpp"

#include <array>

#include <unistd.h>

namespace gputest::os {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

} // namespace gputest::os
