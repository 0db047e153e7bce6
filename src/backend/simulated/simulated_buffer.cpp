// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/simulated_buffer.hpp>

#include "backend/simulated/own_simulated_devices.hpp"
#include "settings/settings.hpp"

#include <utility>

namespace gputest {

namespace {

backend::OwnSimulatedDevices& devices_of_buffers() {
  return backend::OwnSimulatedDevices::instance("a SimulatedBuffer");
}

} // namespace

SimulatedBuffer::SimulatedBuffer(Bytes size, int index) : size_{size}, index_{index} {
  devices_of_buffers().allocate(index, size);
}

SimulatedBuffer::SimulatedBuffer(SimulatedBuffer&& other) noexcept
    : size_{std::exchange(other.size_, Bytes{})}, index_{other.index_} {}

SimulatedBuffer& SimulatedBuffer::operator=(SimulatedBuffer&& other) noexcept {
  std::swap(size_, other.size_);
  std::swap(index_, other.index_);
  return *this;
}

SimulatedBuffer::~SimulatedBuffer() {
  if (size_ > Bytes{}) {
    devices_of_buffers().free(index_, size_);
  }
}

bool devices_are_simulated() {
  return std::holds_alternative<policy::SimulatedDevices>(settings::parse_devices(settings::of_process().devices));
}

} // namespace gputest
