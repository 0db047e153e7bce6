#include <gputest/simulated_buffer.hpp>

#include "devices/own_simulated_devices.hpp"
#include "system/environment.hpp"

#include <utility>

namespace gputest {

namespace {

devices::OwnSimulatedDevices& devices_of_buffers() {
  return devices::OwnSimulatedDevices::instance("a SimulatedBuffer");
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
  return std::holds_alternative<policy::SimulatedDevices>(policy::parse_settings(system::read_variable).devices);
}

} // namespace gputest
