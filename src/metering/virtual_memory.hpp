// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "metering/cupti_api.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace gputest::metering {

/// Which handles of virtual memory management (cuMemCreate) still have memory: CUDA frees it when the last reference to
/// the handle is released and the last mapping is removed, in any order.
///
/// Not thread-safe. Handles of other processes, and those made before anybody looked, are left alone.
class VirtualMemory {
public:
  using Handle = cupti::VirtualMemory;

  void created(Handle handle) { handles_[handle] = {1, 0}; }
  void retained(Handle handle);
  void mapped(std::uint64_t address, Handle handle);

  /// Whether the handle's memory is free with that.
  [[nodiscard]] bool released(Handle handle);

  /// The handles whose memory is free with that. A range may span several mappings.
  [[nodiscard]] std::vector<Handle> unmapped(std::uint64_t address, std::uint64_t bytes);

private:
  struct Uses {
    std::size_t references = 0;
    std::size_t mappings = 0;
  };

  [[nodiscard]] bool is_free(std::map<Handle, Uses>::iterator handle);

  std::map<Handle, Uses> handles_;
  std::map<std::uint64_t, Handle> mappings_; ///< by address
};

} // namespace gputest::metering
