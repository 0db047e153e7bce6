// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/cuda/cuda_driver.hpp"

#include "core/devices/cuda/driver_attributes.hpp"
#include "core/devices/cuda/nvml_api.hpp"
#include "core/os/host.hpp"
#include "core/os/shared_library.hpp"

#include <gputest/bytes.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace gputest::devices {

namespace {

constexpr const char* nvml_library = "libnvidia-ml.so.1";

// A context with its first kernel takes 656 MiB of an H200, a little more with a larger module. Small devices have
// fewer multiprocessors to keep local memory for, and a context takes less there.
constexpr Bytes largest_usual_overhead{768ULL << 20U};
constexpr std::uint64_t usual_overhead_share = 16;

std::string cannot_be_used(const std::string& what, const std::string& matter) {
  return matter.empty() ? "" : what + " cannot be used: " + matter;
}

void add(std::string& texts, const std::string& text) { texts += (texts.empty() || text.empty() ? "" : "; ") + text; }

/// What to do about an error of nvmlInit_v2(), where something can be done.
const char* advice(nvml::Result result) {
  switch (result) {
  case nvml::driver_not_loaded:
    return "; load the NVIDIA kernel module";
  case nvml::driver_version_differs:
    return "; the driver was replaced while its old kernel module stayed loaded: reboot, or reload the module";
  case nvml::no_permission:
    return "; this user needs access to /dev/nvidiactl and /dev/nvidia*";
  default:
    return "";
  }
}

std::optional<unsigned> read_compute_capability(const nvml::Functions& functions, nvml::Handle gpu) {
  int major = 0;
  int minor = 0;
  if (functions.compute_capability == nullptr || functions.compute_capability(gpu, &major, &minor) != nvml::success) {
    return std::nullopt;
  }
  return static_cast<unsigned>(major * 10 + minor);
}

policy::ComputeMode read_compute_mode(const nvml::Functions& functions, nvml::Handle gpu) {
  int mode = 0;
  if (functions.compute_mode == nullptr || functions.compute_mode(gpu, &mode) != nvml::success) {
    return policy::ComputeMode::usual;
  }
  return mode == nvml::mode_exclusive_process ? policy::ComputeMode::exclusive_process
         : mode == nvml::mode_prohibited      ? policy::ComputeMode::prohibited
                                              : policy::ComputeMode::usual;
}

nvml::Result read_text(nvml::Result (*query)(nvml::Handle, char*, unsigned), nvml::Handle device, std::string& text) {
  std::array<char, nvml::text_size> buffer{};
  const auto result = query(device, buffer.data(), nvml::text_size);
  if (result == nvml::success) {
    text = buffer.data();
  }
  return result;
}

/// The GPUs and MIG slices of the machine by NVML, which is opened at run time and creates no CUDA context. In NVML's
/// (PCI) order; a GPU in MIG mode is replaced by its slices, and one that is lost is left out.
///
/// Queries are thread-safe.
class RealDevices final : public DeviceList {
public:
  RealDevices(os::SharedLibrary file, const nvml::Functions& functions, const Settings& settings)
      : file_{std::move(file)}, nvml_{functions}, settings_{settings} {
    std::array<char, nvml::text_size> version{};
    if (nvml_.driver_version != nullptr && nvml_.driver_version(version.data(), nvml::text_size) == nvml::success) {
      driver_version_ = version.data();
    }
    unsigned count = 0;
    if (const auto result = nvml_.device_count(&count); result != nvml::success) {
      left_out_ = "NVML cannot count the GPUs: " + text_of(result);
    }
    for (unsigned index = 0; index < count; ++index) {
      add(left_out_, add_gpu(index));
    }
  }

  RealDevices(const RealDevices&) = delete;
  RealDevices& operator=(const RealDevices&) = delete;
  ~RealDevices() override { nvml_.shut_down(); }

  [[nodiscard]] const std::vector<Device>& devices() const override { return devices_; }

  [[nodiscard]] std::uint64_t reserved_bytes(std::size_t index) const override {
    return places_.at(index).reserved_bytes;
  }

  [[nodiscard]] std::uint64_t usual_overhead_bytes(std::size_t index) const override {
    return std::min(largest_usual_overhead.count(), places_.at(index).total_bytes / usual_overhead_share);
  }

  [[nodiscard]] MemoryUse memory(std::size_t index) const override {
    return {used_bytes(index), nvml::list_processes(nvml_, places_.at(index).handle)};
  }

  [[nodiscard]] policy::DeviceFacts facts(std::size_t index, AskDriver ask) const override {
    auto facts = facts_.at(index);
    facts.lists_processes = nvml::list_processes(nvml_, places_.at(index).handle).has_value();
    if (ask == AskDriver::yes) {
      add_attributes(facts, devices_.at(index).uuid);
    }
    return facts;
  }

  [[nodiscard]] std::uint64_t set_aside_bytes(std::size_t index) const override {
    return places_.at(index).total_bytes - devices_.at(index).total.count();
  }

  [[nodiscard]] std::string left_out() const override { return left_out_; }

  [[nodiscard]] std::string origin() const override {
    return driver_version_.empty() ? "driver of unknown version" : "driver " + driver_version_;
  }

  [[nodiscard]] std::uint64_t used_bytes(std::size_t index) const override {
    const auto& place = places_.at(index);
    const std::uint64_t all = place.total_bytes;
    switch (place.kind) {
    case policy::MemoryPlace::host: {
      const auto host = os::read_host_memory();
      return host ? all - std::min(all, host->available_bytes) : all;
    }
    case policy::MemoryPlace::numa_node: // NVML counts files that the host caches there, too
      if (const auto node = os::read_node_memory(place.node)) {
        return node->total_bytes - node->available_bytes;
      }
      break;
    case policy::MemoryPlace::device:
      break;
    }
    nvml::MemoryFigures memory;
    const bool answers = nvml::read_memory(nvml_, place.handle, memory) == nvml::success;
    // A device that no longer answers has no room for any process.
    return answers ? memory.used_bytes : all - std::min(all, place.reserved_bytes);
  }

private:
  /// Where the memory of a device is, and how NVML is asked for it.
  struct Place {
    nvml::Handle handle = nullptr;
    policy::MemoryPlace kind = policy::MemoryPlace::device;
    unsigned node = 0;                ///< numa_node: its number
    std::uint64_t total_bytes = 0;    ///< all of it
    std::uint64_t reserved_bytes = 0; ///< what the driver keeps for itself; 0 if NVML does not say
  };

  // Each adds what can be used and returns what is the matter with the rest; empty if nothing is.

  std::string add_gpu(unsigned index) {
    const std::string name = "GPU " + std::to_string(index);
    nvml::Handle handle = nullptr;
    if (const auto result = nvml_.device_handle(index, &handle); result != nvml::success) {
      return cannot_be_used(name, text_of(result));
    }
    return in_mig_mode(handle) ? add_slices(handle, name) : cannot_be_used(name, add_device(handle, handle));
  }

  std::string add_device(nvml::Handle handle, nvml::Handle gpu) {
    Device device;
    nvml::MemoryFigures memory;
    auto result = read_text(nvml_.uuid, handle, device.uuid);
    if (result == nvml::success) {
      result = read_text(nvml_.name, handle, device.name);
    }
    if (result == nvml::success) {
      result = nvml::read_memory(nvml_, handle, memory);
      if (result == nvml::not_supported) { // an integrated GPU has no memory of its own
        result = nvml::success;
      }
    }
    if (result != nvml::success) {
      return text_of(result);
    }
    const bool is_slice = handle != gpu;
    Place place{handle, {}, 0, memory.total_bytes, memory.reserved_bytes};
    const bool has_node = !is_slice && nvml_.numa_node != nullptr && nvml_.numa_node(gpu, &place.node) == nvml::success;
    const auto node = has_node ? os::read_node_memory(place.node) : std::nullopt;
    const auto host = os::read_host_memory().value_or(os::HostMemory{});
    place.kind = policy::memory_place(memory.total_bytes, memory.reserved_bytes, host.total_bytes,
                                      node ? std::optional{node->total_bytes} : std::nullopt);
    policy::DeviceFacts facts;
    facts.sm = read_compute_capability(nvml_, gpu);
    facts.mig = is_slice;
    facts.compute_mode = read_compute_mode(nvml_, gpu);
    facts.shares_host_memory = place.kind == policy::MemoryPlace::host;
    facts.processes_allowed = settings_.processes_per_device;
    place.total_bytes = facts.shares_host_memory ? host.total_bytes : memory.total_bytes;
    device.total = limited(Bytes{place.total_bytes}, settings_);
    devices_.push_back(std::move(device));
    places_.push_back(place);
    facts_.push_back(std::move(facts));
    return {};
  }

  std::string add_slices(nvml::Handle gpu, const std::string& name) {
    unsigned places = 0;
    if (const auto result = nvml_.largest_mig_count(gpu, &places); result != nvml::success) {
      return cannot_be_used(name, text_of(result));
    }
    std::string matters;
    bool has_slices = false;
    for (unsigned place = 0; place < places; ++place) {
      nvml::Handle slice = nullptr;
      const auto result = nvml_.mig_handle(gpu, place, &slice);
      if (result == nvml::not_found) {
        continue; // slices may come after a place without one
      }
      has_slices = true;
      add(matters, cannot_be_used("MIG slice " + std::to_string(place) + " of " + name,
                                  result == nvml::success ? add_device(slice, gpu) : text_of(result)));
    }
    return has_slices ? matters : cannot_be_used(name, "it is in MIG mode and has no slices");
  }

  [[nodiscard]] bool in_mig_mode(nvml::Handle gpu) const {
    if (nvml_.mig_mode == nullptr || nvml_.largest_mig_count == nullptr || nvml_.mig_handle == nullptr) {
      return false;
    }
    unsigned now = 0;
    unsigned after_reset = 0;
    return nvml_.mig_mode(gpu, &now, &after_reset) == nvml::success && now == nvml::mig_enabled;
  }

  [[nodiscard]] std::string text_of(nvml::Result result) const {
    return std::string{nvml_.error_string(result)} + " (" + std::to_string(result) + ")";
  }

  /// Adds what the driver itself says of a device; all of them are asked about at once, and only once.
  void add_attributes(policy::DeviceFacts& facts, const std::string& uuid) const {
    if (!attributes_) {
      std::vector<std::string> uuids;
      for (const auto& device : devices_) {
        uuids.push_back(device.uuid);
      }
      attributes_ = ask_driver(uuids, why_unknown_);
    }
    const auto found = std::find_if(attributes_->begin(), attributes_->end(),
                                    [&](const DriverAttributes& device) { return device.uuid == uuid; });
    if (found == attributes_->end()) {
      facts.why_unknown = why_unknown_;
      return;
    }
    facts.sm = facts.sm.value_or(found->sm);
    facts.memory_pools = found->memory_pools;
    facts.managed_memory = found->managed_memory;
    facts.concurrent_managed_access = found->concurrent_managed_access;
    facts.cooperative_launch = found->cooperative_launch;
    facts.shares_host_memory = facts.shares_host_memory || found->integrated;
    facts.peers.emplace();
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (std::find(found->peers.begin(), found->peers.end(), devices_[i].uuid) != found->peers.end()) {
        facts.peers->push_back(i);
      }
    }
  }

  os::SharedLibrary file_; // keeps nvml_ callable
  nvml::Functions nvml_;
  const Settings settings_;
  std::string driver_version_;
  std::string left_out_;
  std::vector<Device> devices_;
  std::vector<Place> places_;                                       ///< of devices_, by the same index
  std::vector<policy::DeviceFacts> facts_;                          ///< likewise, without what the driver says
  mutable std::optional<std::vector<DriverAttributes>> attributes_; ///< once the driver was asked
  mutable std::string why_unknown_;
};

} // namespace

std::unique_ptr<DeviceList> open_real(std::string& why_none, const Settings& settings) {
  std::string reason;
  auto file = os::SharedLibrary::open(nvml_library, reason);
  if (!file) {
    why_none = std::string{"no NVIDIA driver: "} + nvml_library + " cannot be opened (" + reason + ")";
    return nullptr;
  }
  nvml::Functions functions;
  if (!functions.bind(*file, reason)) {
    why_none = std::string{"the NVIDIA driver is too old: its "} + nvml_library + " has no " + reason;
    return nullptr;
  }
  if (const auto result = functions.initialise(); result != nvml::success) {
    why_none =
        std::string{"NVML: "} + functions.error_string(result) + " (" + std::to_string(result) + ")" + advice(result);
    return nullptr;
  }
  auto list = std::make_unique<RealDevices>(std::move(*file), functions, settings);
  if (list->devices().empty()) {
    const auto why = list->left_out();
    why_none = why.empty() ? "the NVIDIA driver (" + list->origin() + ") shows no GPU" : why;
  }
  return list;
}

} // namespace gputest::devices
