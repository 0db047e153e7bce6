// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/cuda/nvml_api.hpp"
#include "core/devices/device_list.hpp"
#include "core/policy/capabilities.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gputest::devices {

/// One GPU or MIG slice as NVML describes it.
struct NvmlDevice {
  std::string uuid;
  std::string name;
  std::uint64_t total_bytes = 0;    ///< all of it; 0 if NVML does not say, as of one that shares the host's memory
  std::uint64_t reserved_bytes = 0; ///< what the driver keeps for itself; 0 if NVML does not say
  bool mig_slice = false;
  std::optional<unsigned> numa_node; ///< that its memory is, on a machine whose host can use it too
  std::optional<unsigned> sm;        ///< compute capability, 90 for 9.0; of a slice, its GPU's
  policy::ComputeMode compute_mode = policy::ComputeMode::usual; ///< of a slice, its GPU's
};

/// NVML, opened at run time: the GPUs of the machine and their memory, without a CUDA context. Costs 8 ms to open
/// (H200).
///
/// Not thread-safe to open; queries are. Nothing here blocks.
class Nvml {
public:
  /// Opens libnvidia-ml.so.1 and initialises it, or says why there is none in `why`.
  ///
  /// On success `why` is empty, or names the GPUs that devices() leaves out and what is the matter with each.
  [[nodiscard]] static std::unique_ptr<Nvml> open(std::string& why);

  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml() { functions_.shut_down(); }

  /// The GPUs in NVML's (PCI) order; a GPU in MIG mode is replaced by its slices. One that is lost is left out.
  [[nodiscard]] const std::vector<NvmlDevice>& devices() const { return devices_; }

  /// Memory in use of device `index` by anybody, what the driver reserves not counted; nullopt if NVML does not say.
  [[nodiscard]] std::optional<std::uint64_t> used_bytes(std::size_t index) const;

  /// Processes on device `index` (compute, graphics, MPS clients), each once; nullopt if NVML cannot list them.
  [[nodiscard]] std::optional<std::vector<ProcessMemory>> processes(std::size_t index) const {
    return nvml::list_processes(functions_, handles_.at(index));
  }

  /// Driver version, such as `580.159.04`; empty if unknown.
  [[nodiscard]] const std::string& driver_version() const { return driver_version_; }

private:
  Nvml(os::SharedLibrary file, const nvml::Functions& functions) : file_{std::move(file)}, functions_{functions} {}

  // Each adds what can be used and returns what is the matter with the rest; empty if nothing is.
  std::string find_devices();
  std::string add_gpu(unsigned index);
  std::string add_slices(nvml::Handle gpu, const std::string& name);
  std::string add_device(nvml::Handle handle, nvml::Handle gpu);

  [[nodiscard]] bool in_mig_mode(nvml::Handle gpu) const;
  [[nodiscard]] std::string text_of(nvml::Result result) const;

  os::SharedLibrary file_; // keeps functions_ callable
  nvml::Functions functions_;
  std::string driver_version_;
  std::vector<NvmlDevice> devices_;
  std::vector<nvml::Handle> handles_; // of devices_, by the same index
};

} // namespace gputest::devices
