// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/file_system.hpp"

#include <sys/vfs.h>

namespace gputest::os {

std::uint32_t file_system_type(int descriptor) {
  struct statfs status {};
  // The word is signed and of 64 bits here; types have 32.
  return ::fstatfs(descriptor, &status) == 0 ? static_cast<std::uint32_t>(status.f_type) : 0;
}

} // namespace gputest::os
