// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "backend/meter.hpp"
#include "ledger/result.hpp"
#include "meter/json_object.hpp"

#include <gputest/bytes.hpp>
#include <gputest/device.hpp>
#include <gputest/outcome.hpp>
#include <gputest/request.hpp>

#include <string>
#include <vector>

namespace gputest::meter {

// What the lines of the run log say (src/DESIGN.md, The run log). Bytes are per device.

/// `enter`: the process has its devices.
[[nodiscard]] JsonObject enter_details(const std::vector<Device>& devices, Bytes overhead, double waited,
                                       bool under_a_lease);

/// `wait`: the request has waited for a second, for these.
[[nodiscard]] JsonObject wait_details(const std::string& what, const ledger::Blocked& blocked);

/// `lease`: the request is granted, with so many bytes on each of these devices.
[[nodiscard]] JsonObject lease_details(const Request& request, Bytes bytes, bool whole_devices,
                                       const std::vector<Device>& devices, double waited);

/// `release`: the lease of the first `gpus` devices is given back, and this was measured under it. An exact figure of 0
/// is there too.
[[nodiscard]] JsonObject release_details(double held, const backend::Usage& usage, const std::vector<Device>& devices,
                                         std::size_t gpus);

/// `skip`: gputest has skipped a test.
[[nodiscard]] JsonObject skip_details(const Outcome& outcome);

/// `out_of_memory`: who had memory beyond what it has leased.
[[nodiscard]] JsonObject out_of_memory_details(const std::string& text, const std::vector<ledger::Excess>& beyond);

} // namespace gputest::meter
