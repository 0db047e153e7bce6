#include <gputest/simulated_buffer.hpp>

#include "devices/simulated.hpp"
#include "devices/simulated_memory.hpp"
#include "policy/visible_devices.hpp"
#include "system/environment.hpp"

#include <gputest/error.hpp>

#include <utility>

namespace gputest {

namespace {

/// This process's view of the simulated devices: those that CUDA_VISIBLE_DEVICES leaves, numbered from 0.
struct View {
  devices::SimulatedMemory memory;
  std::vector<std::size_t> visible;

  View(const policy::SimulatedDevices& setting, const std::string& folder)
      : memory{setting, folder}, visible{policy::visible_devices(system::read_variable("CUDA_VISIBLE_DEVICES"),
                                                                 devices::simulated_uuids(setting))} {}
};

View& view() {
  // Never destroyed: a buffer may be a global variable that is destroyed after it.
  static View& view = *[] {
    const auto settings = policy::parse_settings(system::read_variable);
    if (const auto* setting = std::get_if<policy::SimulatedDevices>(&settings.devices)) {
      return new View{*setting, settings.folder}; // NOLINT(cppcoreguidelines-owning-memory)
    }
    throw InvalidSetting{"a SimulatedBuffer was asked for, but the devices are not simulated; set "
                         "GPUTEST_DEVICES=simulated:<n>x<size>, or allocate through CUDA"};
  }();
  return view;
}

std::size_t device_of(int index) {
  const auto& visible = view().visible;
  if (index < 0 || static_cast<std::size_t>(index) >= visible.size()) {
    throw InvalidSetting{"simulated device " + std::to_string(index) + " was asked for, and this process sees " +
                         std::to_string(visible.size()) + "; ask for more with GPUS in gpu_add_test()"};
  }
  return visible[static_cast<std::size_t>(index)];
}

} // namespace

SimulatedBuffer::SimulatedBuffer(Bytes size, int index) : size_{size}, index_{index} {
  view().memory.allocate(device_of(index), size);
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
    view().memory.free(view().visible[static_cast<std::size_t>(index_)], size_);
  }
}

bool devices_are_simulated() {
  return std::holds_alternative<policy::SimulatedDevices>(policy::parse_settings(system::read_variable).devices);
}

} // namespace gputest
