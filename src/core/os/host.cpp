// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/host.hpp"

#include "core/os/file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <vector>

#include <pwd.h>
#include <sys/mman.h>
#include <unistd.h>

namespace gputest::os {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

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

namespace {

/// The bytes of a line such as `MemTotal:       16318412 kB`, or of a node `Node 0 MemTotal:       16318412 kB`.
std::optional<std::uint64_t> bytes_of(const std::string& meminfo, const std::string& name) {
  std::istringstream lines{meminfo};
  for (std::string line; std::getline(lines, line);) {
    const auto colon = line.find(':');
    const auto begin = line.compare(0, 5, "Node ") == 0 ? line.find(' ', 5) + 1 : 0;
    if (colon == std::string::npos || begin > colon || line.compare(begin, colon - begin, name) != 0) {
      continue;
    }
    constexpr std::uint64_t bytes_per_kib = 1024;
    return std::strtoull(line.c_str() + colon + 1, nullptr, 10) * bytes_per_kib;
  }
  return std::nullopt;
}

} // namespace

std::optional<HostMemory> parse_host_memory(const std::string& meminfo) {
  const auto total = bytes_of(meminfo, "MemTotal");
  const auto available = bytes_of(meminfo, "MemAvailable");
  if (!total || !available) {
    return std::nullopt;
  }
  return HostMemory{*total, *available};
}

std::optional<HostMemory> read_host_memory() { return parse_host_memory(contents_of("/proc/meminfo").value_or("")); }

std::optional<HostMemory> parse_node_memory(const std::string& meminfo) {
  const auto total = bytes_of(meminfo, "MemTotal");
  const auto free = bytes_of(meminfo, "MemFree");
  if (!total || !free) {
    return std::nullopt;
  }
  std::uint64_t available = *free;
  for (const char* reclaimable : {"Active(file)", "Inactive(file)", "SReclaimable"}) {
    available += bytes_of(meminfo, reclaimable).value_or(0);
  }
  return HostMemory{*total, std::min(*total, available)};
}

std::optional<HostMemory> read_node_memory(unsigned node) {
  return parse_node_memory(
      contents_of("/sys/devices/system/node/node" + std::to_string(node) + "/meminfo").value_or(""));
}

void* reserve_addresses(std::size_t bytes) {
  void* const first = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  // NOLINTNEXTLINE(performance-no-int-to-ptr, cppcoreguidelines-pro-type-cstyle-cast)
  return first == MAP_FAILED ? nullptr : first;
}

void release_addresses(void* first, std::size_t bytes) { ::munmap(first, bytes); }

} // namespace gputest::os
