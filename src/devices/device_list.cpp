#include "devices/device_list.hpp"

#include "devices/limited_devices.hpp"
#include "devices/real_devices.hpp"
#include "devices/simulated.hpp"

#include <stdexcept>
#include <utility>
#include <variant>

namespace gputest::devices {

namespace {

/// A machine without a device: there is no index that could be asked for.
class EmptyList final : public DeviceList {
public:
  [[nodiscard]] const std::vector<Device>& devices() const override { return devices_; }
  [[nodiscard]] std::uint64_t reserved_bytes(std::size_t /*index*/) const override { refuse(); }
  [[nodiscard]] std::uint64_t usual_overhead_bytes(std::size_t /*index*/) const override { refuse(); }
  [[nodiscard]] MemoryUse memory(std::size_t /*index*/) const override { refuse(); }
  [[nodiscard]] policy::DeviceFacts facts(std::size_t /*index*/, AskDriver /*ask*/) const override { refuse(); }
  [[nodiscard]] std::string origin() const override { return "no devices"; }

private:
  [[noreturn]] static void refuse() { throw std::out_of_range{"a device was asked for where there is none"}; }

  std::vector<Device> devices_;
};

struct Opener {
  const policy::Settings& settings;
  std::string& why_none;

  std::unique_ptr<DeviceList> operator()(const policy::AllDevices& /*all*/) const { return open_real(why_none); }

  std::unique_ptr<DeviceList> operator()(const policy::NoDevices& /*none*/) const {
    why_none = "GPUTEST_DEVICES=none asks for none";
    return nullptr;
  }

  std::unique_ptr<DeviceList> operator()(const policy::SimulatedDevices& simulated) const {
    return open_simulated(simulated, settings.folder);
  }
};

} // namespace

std::unique_ptr<DeviceList> open_devices(const policy::Settings& settings, std::string& why_none) {
  why_none.clear();
  auto list = std::visit(Opener{settings, why_none}, settings.devices);
  if (!list) {
    return std::make_unique<EmptyList>();
  }
  return settings.device_memory ? limit_devices(std::move(list), *settings.device_memory) : std::move(list);
}

} // namespace gputest::devices
