// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/policy/capabilities.hpp"

#include <gputest/bytes.hpp>

#include <chrono>
#include <string>

namespace gputest::policy {

/// What a simulated device is unless its setting says otherwise: a data-centre card of today under Linux.
[[nodiscard]] DeviceFacts usual_simulated_facts();

/// Simulated GPUs: memory only, shared by all processes of the machine. All of a setting are of one kind.
struct SimulatedDevices {
  int count = 0;
  Bytes size;
  Bytes context; ///< what each process's context takes
  DeviceFacts facts = usual_simulated_facts();
  std::chrono::milliseconds return_after{}; ///< memory of a process that has ended comes back only so much later
  std::string kind{}; ///< differs between settings whose options do, apart from the context; short, letters and digits
};

/// Reads `<n>x<size>[,<option>...]`, what follows `simulated:`. Of two options about the same the last one counts.
/// Throws InvalidSetting saying what is wrong in it and what is allowed.
[[nodiscard]] SimulatedDevices parse_simulated_devices(const std::string& text);

/// Reads a whole number. Throws InvalidSetting naming `what` and the range.
[[nodiscard]] int parse_int(std::string_view text, int smallest, int largest, const std::string& what);

} // namespace gputest::policy
