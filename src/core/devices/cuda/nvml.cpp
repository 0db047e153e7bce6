// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/cuda/nvml.hpp"

#include <array>
#include <utility>

namespace gputest::devices {

namespace {

constexpr const char* nvml_library = "libnvidia-ml.so.1";

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

} // namespace

std::string Nvml::find_devices() {
  std::array<char, nvml::text_size> version{};
  if (functions_.driver_version != nullptr &&
      functions_.driver_version(version.data(), nvml::text_size) == nvml::success) {
    driver_version_ = version.data();
  }
  unsigned count = 0;
  if (const auto result = functions_.device_count(&count); result != nvml::success) {
    return "NVML cannot count the GPUs: " + text_of(result);
  }
  std::string matters;
  for (unsigned index = 0; index < count; ++index) {
    add(matters, add_gpu(index));
  }
  return matters;
}

std::string Nvml::add_gpu(unsigned index) {
  const std::string name = "GPU " + std::to_string(index);
  nvml::Handle handle = nullptr;
  if (const auto result = functions_.device_handle(index, &handle); result != nvml::success) {
    return cannot_be_used(name, text_of(result));
  }
  return in_mig_mode(handle) ? add_slices(handle, name) : cannot_be_used(name, add_device(handle, handle));
}

std::string Nvml::add_device(nvml::Handle handle, nvml::Handle gpu) {
  NvmlDevice device;
  nvml::MemoryFigures memory;
  auto result = read_text(functions_.uuid, handle, device.uuid);
  if (result == nvml::success) {
    result = read_text(functions_.name, handle, device.name);
  }
  if (result == nvml::success) {
    result = nvml::read_memory(functions_, handle, memory);
    if (result == nvml::not_supported) { // an integrated GPU has no memory of its own
      result = nvml::success;
    }
  }
  if (result != nvml::success) {
    return text_of(result);
  }
  device.total_bytes = memory.total_bytes;
  device.reserved_bytes = memory.reserved_bytes;
  device.mig_slice = handle != gpu;
  unsigned node = 0;
  if (!device.mig_slice && functions_.numa_node != nullptr && functions_.numa_node(gpu, &node) == nvml::success) {
    device.numa_node = node;
  }
  device.sm = read_compute_capability(functions_, gpu);
  device.compute_mode = read_compute_mode(functions_, gpu);
  devices_.push_back(std::move(device));
  handles_.push_back(handle);
  return {};
}

std::string Nvml::add_slices(nvml::Handle gpu, const std::string& name) {
  unsigned places = 0;
  if (const auto result = functions_.largest_mig_count(gpu, &places); result != nvml::success) {
    return cannot_be_used(name, text_of(result));
  }
  std::string matters;
  bool has_slices = false;
  for (unsigned place = 0; place < places; ++place) {
    nvml::Handle slice = nullptr;
    const auto result = functions_.mig_handle(gpu, place, &slice);
    if (result == nvml::not_found) {
      continue; // slices may come after a place without one
    }
    has_slices = true;
    add(matters, cannot_be_used("MIG slice " + std::to_string(place) + " of " + name,
                                result == nvml::success ? add_device(slice, gpu) : text_of(result)));
  }
  return has_slices ? matters : cannot_be_used(name, "it is in MIG mode and has no slices");
}

bool Nvml::in_mig_mode(nvml::Handle gpu) const {
  if (functions_.mig_mode == nullptr || functions_.largest_mig_count == nullptr || functions_.mig_handle == nullptr) {
    return false;
  }
  unsigned now = 0;
  unsigned after_reset = 0;
  return functions_.mig_mode(gpu, &now, &after_reset) == nvml::success && now == nvml::mig_enabled;
}

std::string Nvml::text_of(nvml::Result result) const {
  return std::string{functions_.error_string(result)} + " (" + std::to_string(result) + ")";
}

std::unique_ptr<Nvml> Nvml::open(std::string& why) {
  std::string reason;
  auto file = os::SharedLibrary::open(nvml_library, reason);
  if (!file) {
    why = std::string{"no NVIDIA driver: "} + nvml_library + " cannot be opened (" + reason + ")";
    return nullptr;
  }
  nvml::Functions functions;
  if (!functions.bind(*file, reason)) {
    why = std::string{"the NVIDIA driver is too old: its "} + nvml_library + " has no " + reason;
    return nullptr;
  }
  if (const auto result = functions.initialise(); result != nvml::success) {
    why = std::string{"NVML: "} + functions.error_string(result) + " (" + std::to_string(result) + ")" + advice(result);
    return nullptr;
  }
  std::unique_ptr<Nvml> opened{new Nvml{std::move(*file), functions}};
  why = opened->find_devices();
  return opened;
}

std::optional<std::uint64_t> Nvml::used_bytes(std::size_t index) const {
  nvml::MemoryFigures memory;
  const auto result = nvml::read_memory(functions_, handles_.at(index), memory);
  return result == nvml::success ? std::optional{memory.used_bytes} : std::nullopt;
}

} // namespace gputest::devices
