// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/this_process.hpp"

#include "core/devices/cuda/cuda_process.hpp"
#include "core/devices/simulated/simulated_process.hpp"
#include "core/settings/settings.hpp"

#include <variant>

namespace gputest::devices {

MemorySource& MemorySource::instance() {
  static MemorySource& source = this_process(settings::of_process()).memory();
  return source;
}

ThisProcess& this_process(const Settings& settings) {
  const auto devices = settings::parse_devices(settings.devices);
  return std::holds_alternative<policy::SimulatedDevices>(devices) ? simulated_process() : cuda_process();
}

} // namespace gputest::devices
