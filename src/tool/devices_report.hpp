// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/policy/capabilities.hpp"

#include <gputest/device.hpp>

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gputest::tool {

/// A process that uses a device.
struct DeviceUser {
  std::int64_t pid = 0;
  std::optional<std::uint64_t> used_bytes;
  std::string who; ///< its test or command, by the ledger; empty for an external process
};

/// One device, as `gputest devices` shows it. All figures are of one moment.
struct DeviceReport {
  std::size_t index = 0; ///< in the machine's order, before CUDA_VISIBLE_DEVICES
  Device device;
  bool visible = true;                          ///< false: the restriction hides it
  std::uint64_t reserved_bytes = 0;             ///< the driver's own
  std::uint64_t used_bytes = 0;                 ///< by all processes
  std::uint64_t context_bytes = 0;              ///< in the ledger: contexts of the processes on it
  std::uint64_t leased_bytes = 0;               ///< in the ledger: memory of running tests
  std::size_t processes = 0;                    ///< in the ledger
  std::uint64_t external_bytes = 0;             ///< used by processes that are not in the ledger
  std::uint64_t next_context_bytes = 0;         ///< what the context of the next process counts as
  std::uint64_t free_bytes = 0;                 ///< what the next test could lease without waiting
  std::uint64_t set_aside_bytes = 0;            ///< what it has beyond device.total; no decision uses it
  policy::DeviceFacts facts;                    ///< peers are indices of the machine's order
  std::optional<std::vector<DeviceUser>> users; ///< nullopt if the driver lists none
};

/// What `gputest devices` prints.
struct DevicesReport {
  std::string origin;      ///< what kind of devices these are
  std::string why_none;    ///< why there are none; empty if there are some
  std::string left_out;    ///< why some GPUs are not in `devices`
  std::string restriction; ///< what decides which devices are visible: `CUDA_VISIBLE_DEVICES='1'`
  std::vector<DeviceReport> devices;
  bool gpu_required = false; ///< a setting demands one
};

/// What tests and their contexts can have of a device now: its memory without what the driver keeps and what external
/// processes hold. What other tests hold is not subtracted, because they give it back. nullopt if tests may not use it.
[[nodiscard]] std::optional<Bytes> bytes_for_tests(const DeviceReport& device);

/// Whether there is a device that tests may use.
[[nodiscard]] bool has_usable_device(const DevicesReport& report);

/// For people: tables of memory and capabilities, the processes that use each device, and a line that says what kind of
/// devices these are.
[[nodiscard]] std::string to_text(const DevicesReport& report);

/// For machines; `gputest devices --help` documents the keys.
[[nodiscard]] nlohmann::ordered_json to_json(const DevicesReport& report);

} // namespace gputest::tool
