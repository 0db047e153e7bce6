// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/cuda/nvml.hpp"

#include "core/devices/cuda/nvml_api.hpp"
#include "core/devices/cuda/nvml_queries.hpp"
#include "core/os/shared_library.hpp"

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

} // namespace

/// The opened library and the devices it showed when it was opened.
class Nvml::Library {
public:
  Library(os::SharedLibrary file, const nvml::Functions& functions) : file_{std::move(file)}, functions_{functions} {}
  ~Library() { functions_.shut_down(); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// Looks for the devices; what is the matter with those that cannot be used, empty if nothing is.
  std::string find_devices();

  [[nodiscard]] const nvml::Functions& functions() const { return functions_; }
  [[nodiscard]] nvml::Handle handle(std::size_t index) const { return handles_.at(index); }
  [[nodiscard]] const std::vector<NvmlDevice>& devices() const { return devices_; }
  [[nodiscard]] const std::string& driver_version() const { return driver_version_; }

private:
  // Each adds what can be used and returns which of the rest cannot, and why.
  std::string add_gpu(unsigned index);
  std::string add_slices(nvml::Handle gpu, const std::string& name);

  /// Adds it; or returns what is the matter with it.
  std::string add_device(nvml::Handle handle, nvml::Handle gpu);

  [[nodiscard]] bool in_mig_mode(nvml::Handle gpu) const;
  [[nodiscard]] std::string text_of(nvml::Result result) const;

  os::SharedLibrary file_; // keeps functions_ callable
  nvml::Functions functions_;
  std::string driver_version_;
  std::vector<NvmlDevice> devices_;
  std::vector<nvml::Handle> handles_; // of devices_, by the same index
};

std::string Nvml::Library::find_devices() {
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

std::string Nvml::Library::add_gpu(unsigned index) {
  const std::string name = "GPU " + std::to_string(index);
  nvml::Handle handle = nullptr;
  if (const auto result = functions_.device_handle(index, &handle); result != nvml::success) {
    return cannot_be_used(name, text_of(result));
  }
  return in_mig_mode(handle) ? add_slices(handle, name) : cannot_be_used(name, add_device(handle, handle));
}

std::string Nvml::Library::add_device(nvml::Handle handle, nvml::Handle gpu) {
  NvmlDevice device;
  nvml::MemoryFigures memory;
  auto result = nvml::read_text(functions_.uuid, handle, device.uuid);
  if (result == nvml::success) {
    result = nvml::read_text(functions_.name, handle, device.name);
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
  device.sm = nvml::read_compute_capability(functions_, gpu);
  device.driver_model = nvml::read_driver_model(functions_, gpu);
  device.compute_mode = nvml::read_compute_mode(functions_, gpu);
  devices_.push_back(std::move(device));
  handles_.push_back(handle);
  return {};
}

std::string Nvml::Library::add_slices(nvml::Handle gpu, const std::string& name) {
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

bool Nvml::Library::in_mig_mode(nvml::Handle gpu) const {
  if (functions_.mig_mode == nullptr || functions_.largest_mig_count == nullptr || functions_.mig_handle == nullptr) {
    return false;
  }
  unsigned now = 0;
  unsigned after_reset = 0;
  return functions_.mig_mode(gpu, &now, &after_reset) == nvml::success && now == nvml::mig_enabled;
}

std::string Nvml::Library::text_of(nvml::Result result) const {
  return std::string{functions_.error_string(result)} + " (" + std::to_string(result) + ")";
}

std::optional<Nvml> Nvml::open(std::string& why) {
  std::string reason;
  auto file = os::SharedLibrary::open(nvml_library, reason);
  if (!file) {
    why = std::string{"no NVIDIA driver: "} + nvml_library + " cannot be opened (" + reason + ")";
    return std::nullopt;
  }
  nvml::Functions functions;
  if (!functions.bind(*file, reason)) {
    why = std::string{"the NVIDIA driver is too old: its "} + nvml_library + " has no " + reason;
    return std::nullopt;
  }
  if (const auto result = functions.initialise(); result != nvml::success) {
    why = std::string{"NVML: "} + functions.error_string(result) + " (" + std::to_string(result) + ")" + advice(result);
    return std::nullopt;
  }
  auto library = std::make_unique<Library>(std::move(*file), functions);
  why = library->find_devices();
  return Nvml{std::move(library)};
}

Nvml::Nvml(std::unique_ptr<Library> library) : library_{std::move(library)} {}
Nvml::Nvml(Nvml&& other) noexcept = default;
Nvml& Nvml::operator=(Nvml&& other) noexcept = default;
Nvml::~Nvml() = default;

const std::vector<NvmlDevice>& Nvml::devices() const { return library_->devices(); }

std::optional<std::uint64_t> Nvml::used_bytes(std::size_t index) const {
  nvml::MemoryFigures memory;
  if (nvml::read_memory(library_->functions(), library_->handle(index), memory) != nvml::success) {
    return std::nullopt;
  }
  return memory.used_bytes;
}

std::optional<std::vector<NvmlProcess>> Nvml::processes(std::size_t index) const {
  return nvml::list_processes(library_->functions(), library_->handle(index));
}

const std::string& Nvml::driver_version() const { return library_->driver_version(); }

} // namespace gputest::devices
