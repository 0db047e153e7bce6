#include "system/host_memory.hpp"

#include "system/process.hpp"

#include <cstdlib>
#include <sstream>

namespace gputest::system {

namespace {

/// The bytes of a line such as `MemTotal:       16318412 kB`.
std::optional<std::uint64_t> bytes_of(const std::string& meminfo, const std::string& name) {
  std::istringstream lines{meminfo};
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, name.size() + 1, name + ":") != 0) {
      continue;
    }
    constexpr std::uint64_t bytes_per_kib = 1024;
    return std::strtoull(line.c_str() + name.size() + 1, nullptr, 10) * bytes_per_kib;
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

} // namespace gputest::system
