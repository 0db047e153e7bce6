// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace gputest::os {

/// This machine's name, as it knows itself; empty if it has none.
[[nodiscard]] std::string host_name();

/// The login name of a user, or the number itself if this machine (or container) knows no such user.
[[nodiscard]] std::string user_name(std::uint32_t uid);

/// The memory of this machine, which an integrated GPU shares.
struct HostMemory {
  std::uint64_t total_bytes = 0;
  std::uint64_t available_bytes = 0; ///< what programs could still take without swapping
};

/// Reads /proc/meminfo; nullopt if it cannot be read.
[[nodiscard]] std::optional<HostMemory> read_host_memory();

/// Reads the text of /proc/meminfo; nullopt if one of the two lines is missing.
[[nodiscard]] std::optional<HostMemory> parse_host_memory(const std::string& meminfo);

/// The memory of one NUMA node: what is available is free, or caches files and can be reclaimed. nullopt if there is no
/// such node.
[[nodiscard]] std::optional<HostMemory> read_node_memory(unsigned node);

/// Reads the text of a node's meminfo; nullopt if one of its lines is missing.
[[nodiscard]] std::optional<HostMemory> parse_node_memory(const std::string& meminfo);

/// Addresses that are nobody else's, and that end the process when they are used. Null if there are none: errno says
/// why.
[[nodiscard]] void* reserve_addresses(std::size_t bytes);
void release_addresses(void* first, std::size_t bytes);

} // namespace gputest::os
