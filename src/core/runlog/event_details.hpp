// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/meter.hpp"
#include "core/ledger/record.hpp"
#include "core/runlog/run_log.hpp"

#include <gputest/bytes.hpp>
#include <gputest/device.hpp>
#include <gputest/request.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gputest::runlog {

// What the lines of the run log say (DESIGN.md). Bytes are per device.

/// What a process that has its devices says of them and of itself.
struct Entered {
  const std::vector<Device>& devices;
  std::vector<std::uint64_t> usable_bytes; ///< of each device, what a process may have of it; or empty
  Bytes overhead;
  double waited = 0;
  bool under_a_lease = false;
  bool worker = false;          ///< it runs cases of several entries
  std::string why_started = {}; ///< of a worker
};

/// `enter`: the process has its devices.
[[nodiscard]] JsonObject enter_details(const Entered& entered);

/// `wait`: the request has waited for a second, for these.
[[nodiscard]] JsonObject wait_details(const std::string& what, const ledger::Blocked& blocked);

/// `lease`: the request is granted, with so many bytes on each of these devices.
[[nodiscard]] JsonObject lease_details(const Request& request, Bytes bytes, bool whole_devices,
                                       const std::vector<Device>& devices, double waited);

/// `release`: the lease of the first `gpus` devices is given back, and this was measured under it. An exact figure of 0
/// is there too.
[[nodiscard]] JsonObject release_details(double held, const devices::Usage& usage, const std::vector<Device>& devices,
                                         std::size_t gpus);

/// What a test took of the device of which it took the most, beside the context.
struct Need {
  Bytes bytes;
  devices::Evidence evidence;
  const Device& device;
  std::optional<Bytes> allowed; ///< what it may take; nullopt: a whole device
  SaidBy declared_by;           ///< who says that
  Bytes possible = {};          ///< what it may take where more is free, because it asks for that
  bool by_test = false;         ///< the test can be run without others of its entry: figures are kept for each test
};

/// `need`: what the entry needs, as far as this test shows.
[[nodiscard]] JsonObject need_details(const Need& need);

/// `out_of_memory`: who had memory beyond what it has leased.
[[nodiscard]] JsonObject out_of_memory_details(const std::string& text, const std::vector<ledger::Excess>& beyond);

} // namespace gputest::runlog
