#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace gputest::system {

/// The memory of this machine, which an integrated GPU shares.
struct HostMemory {
  std::uint64_t total_bytes = 0;
  std::uint64_t available_bytes = 0; ///< what programs could still take without swapping
};

/// Reads /proc/meminfo; nullopt where it cannot be read.
[[nodiscard]] std::optional<HostMemory> read_host_memory();

/// Reads the text of /proc/meminfo; nullopt if one of the two lines is missing.
[[nodiscard]] std::optional<HostMemory> parse_host_memory(const std::string& meminfo);

} // namespace gputest::system
