#pragma once

#include "cli/exit_codes.hpp"

#include <gputest/device.hpp>

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace gputest::cli {

/// One device, as `gputest devices` shows it. All figures are of one moment.
struct DeviceReport {
  std::size_t index = 0; ///< in the machine's order, before CUDA_VISIBLE_DEVICES
  Device device;
  bool visible = true;              ///< false: CUDA_VISIBLE_DEVICES hides it
  std::uint64_t reserved_bytes = 0; ///< the driver's own
  std::uint64_t used_bytes = 0;     ///< by anybody
  std::uint64_t context_bytes = 0;  ///< on the ledger: contexts of the processes inside
  std::uint64_t leased_bytes = 0;   ///< on the ledger: memory of running tests
  std::size_t processes = 0;        ///< on the ledger
  std::uint64_t stranger_bytes = 0; ///< used by processes that are not on the ledger
  std::uint64_t free_bytes = 0;     ///< what the next test could lease without waiting
};

/// What `gputest devices` tells.
struct DevicesReport {
  std::string origin;   ///< what kind of devices these are
  std::string why_none; ///< where there are none
  std::vector<DeviceReport> devices;
  bool gpu_required = false; ///< a setting demands one
};

/// Whether there is a device that tests may use.
[[nodiscard]] bool has_usable_device(const DevicesReport& report);

/// For people: a table, and a line that says what kind of devices these are.
[[nodiscard]] std::string to_text(const DevicesReport& report);

/// For machines; `gputest devices --help` documents the keys.
[[nodiscard]] nlohmann::ordered_json to_json(const DevicesReport& report);

[[nodiscard]] ExitCode exit_code_of(const DevicesReport& report);

} // namespace gputest::cli
