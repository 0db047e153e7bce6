// SPDX-License-Identifier: BSD-3-Clause
#include "metering/virtual_memory.hpp"

#include <algorithm>

namespace gputest::metering {

void VirtualMemory::retained(Handle handle) {
  if (const auto found = handles_.find(handle); found != handles_.end()) {
    ++found->second.references;
  }
}

void VirtualMemory::mapped(std::uint64_t address, Handle handle) {
  if (const auto found = handles_.find(handle); found != handles_.end()) {
    ++found->second.mappings;
    mappings_[address] = handle;
  }
}

bool VirtualMemory::released(Handle handle) {
  const auto found = handles_.find(handle);
  if (found == handles_.end() || found->second.references == 0) {
    return false;
  }
  --found->second.references;
  return is_free(found);
}

std::vector<VirtualMemory::Handle> VirtualMemory::unmapped(std::uint64_t address, std::uint64_t bytes) {
  std::vector<Handle> free;
  const auto first = mappings_.lower_bound(address);
  const auto last = mappings_.lower_bound(address + std::max<std::uint64_t>(bytes, 1));
  for (auto mapping = first; mapping != last; ++mapping) {
    const auto found = handles_.find(mapping->second);
    if (found != handles_.end() && found->second.mappings > 0) {
      --found->second.mappings;
      if (is_free(found)) {
        free.push_back(mapping->second);
      }
    }
  }
  mappings_.erase(first, last);
  return free;
}

bool VirtualMemory::is_free(std::map<Handle, Uses>::iterator handle) {
  if (handle->second.references > 0 || handle->second.mappings > 0) {
    return false;
  }
  handles_.erase(handle);
  return true;
}

} // namespace gputest::metering
