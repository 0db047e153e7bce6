// SPDX-License-Identifier: BSD-3-Clause
#include "backend/this_process.hpp"

#include "backend/cuda/cuda_process.hpp"
#include "backend/simulated/simulated_process.hpp"
#include "settings/settings.hpp"

#include <variant>

namespace gputest::backend {

MemorySource& MemorySource::instance() {
  static MemorySource& source = this_process(settings::of_process()).memory();
  return source;
}

ThisProcess& this_process(const Settings& settings) {
  const auto devices = settings::parse_devices(settings.devices);
  return std::holds_alternative<policy::SimulatedDevices>(devices) ? simulated_process() : cuda_process();
}

} // namespace gputest::backend
