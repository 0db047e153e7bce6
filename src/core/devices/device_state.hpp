// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace gputest::devices {

/// What a test can change of its process's devices, apart from their memory, and leave to the next one.
struct DeviceState {
  std::optional<int> current; ///< the device that the calling thread works on; nullopt: none yet
  /// Of each device on which this process has a context: values by the names that programs know.
  std::map<int, std::map<std::string, std::uint64_t>> limits;
};

/// The first difference, in words: `device 1 is the current one, in place of 0`; empty if there is none. What a process
/// had no value of before, or has none of any more, is no difference. Pure.
[[nodiscard]] std::string change_between(const DeviceState& before, const DeviceState& after);

} // namespace gputest::devices
