#include "system/file_system.hpp"

#include <sys/vfs.h>

namespace gputest::system {

std::uint32_t file_system_type(const std::string& path) {
  struct statfs status {};
  // The word is signed and of 64 bits here; types have 32.
  return ::statfs(path.c_str(), &status) == 0 ? static_cast<std::uint32_t>(status.f_type) : 0;
}

} // namespace gputest::system
