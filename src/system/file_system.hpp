#pragma once

#include <cstdint>
#include <string>

namespace gputest::system {

/// Type of the file system that `path`, which must exist, is on: `f_type` of statfs. 0 where it cannot be seen.
[[nodiscard]] std::uint32_t file_system_type(const std::string& path);

} // namespace gputest::system
