// SPDX-License-Identifier: BSD-3-Clause
#include "devices.hpp"

#include "child.hpp"
#include "core/devices/cuda/cuda_driver.hpp"
#include "core/devices/simulated/simulated_memory.hpp"
#include "core/ledger/device_probe.hpp"
#include "core/os/environment.hpp"
#include "core/settings/settings.hpp"
#include "recording.hpp"
#include "shared.hpp"

#include <array>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>
#include <variant>

namespace gputest::benchmarks {

namespace {

constexpr const char* without_gpu = "simulated:1x64GiB";
constexpr std::chrono::seconds limit{60};

/// How long a driver takes to show a device while 16 processes start, and a context to be made (H200, medians).
constexpr std::chrono::milliseconds simulated_look{4};
constexpr std::chrono::milliseconds simulated_context{200};
/// What real devices ask NVML for: a figure, and that with three lists.
constexpr std::uint64_t calls_for_figure = 1;
constexpr std::uint64_t calls_for_look = 4;

class RecordedDevices : public devices::DeviceList {
public:
  RecordedDevices(std::unique_ptr<devices::DeviceList> inner, bool simulated)
      : inner_{std::move(inner)}, simulated_{simulated} {}

  [[nodiscard]] const std::vector<Device>& devices() const override { return inner_->devices(); }
  [[nodiscard]] std::uint64_t reserved_bytes(std::size_t index) const override { return inner_->reserved_bytes(index); }
  [[nodiscard]] std::uint64_t usual_overhead_bytes(std::size_t index) const override {
    return inner_->usual_overhead_bytes(index);
  }
  [[nodiscard]] devices::MemoryUse memory(std::size_t index) const override {
    const Look look;
    imitate_driver(calls_for_look);
    return inner_->memory(index);
  }
  [[nodiscard]] std::uint64_t used_bytes(std::size_t index) const override {
    const Look look;
    imitate_driver(calls_for_figure);
    return inner_->used_bytes(index);
  }
  [[nodiscard]] policy::DeviceFacts facts(std::size_t index, devices::AskDriver ask) const override {
    return inner_->facts(index, ask);
  }
  [[nodiscard]] std::uint64_t set_aside_bytes(std::size_t index) const override {
    return inner_->set_aside_bytes(index);
  }
  [[nodiscard]] std::string origin() const override { return inner_->origin(); }

private:
  void imitate_driver(std::uint64_t calls) const {
    if (simulated_) {
      record_nvml_calls(calls);
      if (others_start()) {
        std::this_thread::sleep_for(simulated_look);
      }
    }
  }

  std::unique_ptr<devices::DeviceList> inner_;
  bool simulated_;
};

} // namespace

Devices::Devices(std::string folder) : settings_{settings_from_environment()} {
  using Name = std::array<char, 128>;
  if (std::holds_alternative<settings::AllDevices>(settings::parse_devices(settings_.devices))) {
    const Shared<Name> name;
    Child looker{[&] {
      std::string why;
      const auto list = devices::open_devices(settings_, why);
      if (!list->devices().empty()) {
        (list->devices().front().name + ", " + list->origin()).copy(name->data(), name->size() - 1);
      }
    }};
    if (!looker.ended_within(limit)) {
      throw std::runtime_error{"the driver did not say within 60 s which devices there are"};
    }
    description_ = name->data();
  }
  if (description_.empty()) {
    simulated_ = true;
    if (!std::holds_alternative<policy::SimulatedDevices>(settings::parse_devices(settings_.devices))) {
      settings_.devices = without_gpu;
    }
    settings_.folder = std::move(folder);
    description_ = "SIMULATED (" + settings_.devices + ")";
  }
}

std::shared_ptr<const devices::DeviceList> Devices::open() const {
  const OtherMutex of_simulated_devices;
  std::string why;
  auto list = devices::open_devices(settings_, why);
  if (list->devices().empty()) {
    throw std::runtime_error{"there is no device: " + why};
  }
  return std::make_shared<RecordedDevices>(std::move(list), simulated_);
}

LedgerUse Devices::half(const std::shared_ptr<const devices::DeviceList>& list) {
  const Device& device = list->devices().front();
  return {ledger::make_probe(list), device.uuid, (device.total.count() - list->reserved_bytes(0)) / 100 * 51, 0, {}};
}

void Devices::make_context(const devices::DeviceList& list) const {
  if (simulated_) {
    const OtherMutex of_simulated_devices;
    const auto setting = std::get<policy::SimulatedDevices>(settings::parse_devices(settings_.devices));
    // Its memory is given back when the process ends.
    static devices::SimulatedMemory memory{setting, settings_.folder};
    memory.allocate(0, Bytes{std::uint64_t{64} << 20U});
    std::this_thread::sleep_for(simulated_context);
    return;
  }
  os::set_variable("CUDA_VISIBLE_DEVICES", list.devices().front().uuid);
  static_cast<void>(devices::cuda_process().free_bytes(0));
}

} // namespace gputest::benchmarks
