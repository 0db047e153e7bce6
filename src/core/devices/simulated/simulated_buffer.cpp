// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/simulated_buffer.hpp>

#include "core/devices/metering.hpp"
#include "core/devices/simulated/own_simulated_devices.hpp"
#include "core/settings/settings.hpp"

#include <gputest/error.hpp>

#include <atomic>
#include <utility>

namespace gputest {

namespace {

devices::OwnSimulatedDevices& devices_of_buffers() {
  return devices::OwnSimulatedDevices::instance("a SimulatedBuffer");
}

/// Of a new buffer. No address is as large: the memory of resources has addresses.
std::uint64_t new_id() {
  static std::atomic<std::uint64_t> last{std::uint64_t{1} << 63U};
  return ++last;
}

} // namespace

SimulatedBuffer::SimulatedBuffer(Bytes size, int index) : size_{size}, index_{index}, id_{new_id()} {
  try {
    devices_of_buffers().take(index, size);
  } catch (const OutOfMemory&) {
    devices::note_simulated_refusal(index, size);
    throw;
  }
  devices::note_simulated_allocation(id_, devices::AllocationKind::device, index, "SimulatedBuffer", size);
}

SimulatedBuffer::SimulatedBuffer(SimulatedBuffer&& other) noexcept
    : size_{std::exchange(other.size_, Bytes{})}, index_{other.index_}, id_{other.id_} {}

SimulatedBuffer& SimulatedBuffer::operator=(SimulatedBuffer&& other) noexcept {
  std::swap(size_, other.size_);
  std::swap(index_, other.index_);
  std::swap(id_, other.id_);
  return *this;
}

SimulatedBuffer::~SimulatedBuffer() {
  if (size_ > Bytes{}) {
    devices::note_simulated_free(id_);
    devices_of_buffers().give_back(index_, size_);
  }
}

bool devices_are_simulated() {
  return std::holds_alternative<policy::SimulatedDevices>(settings::parse_devices(settings::of_process().devices));
}

} // namespace gputest
