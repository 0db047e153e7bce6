// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/cuda/nvml_api.hpp"

namespace gputest::devices::nvml {

namespace {

/// Binds a process list. The `_v2` functions come first although there are `_v3` ones: drivers 535.43 to 535.86 (CUDA
/// 12.2) fill a longer struct through `_v3`, later ones drop it and then bring it back; `_v2` never changed.
void bind_process_query(const os::SharedLibrary& library, ProcessQuery*& query, const std::string& name) {
  if (!library.bind(query, (name + "_v2").c_str())) {
    library.bind(query, (name + "_v3").c_str());
  }
}

} // namespace

bool Functions::bind(const os::SharedLibrary& library, std::string& missing) {
  const auto required = [&](auto*& function, const char* symbol) {
    if (library.bind(function, symbol)) {
      return true;
    }
    missing = symbol;
    return false;
  };

  library.bind(memory_v2, "nvmlDeviceGetMemoryInfo_v2");
  library.bind(driver_version, "nvmlSystemGetDriverVersion");
  library.bind(mig_mode, "nvmlDeviceGetMigMode");
  library.bind(largest_mig_count, "nvmlDeviceGetMaxMigDeviceCount");
  library.bind(mig_handle, "nvmlDeviceGetMigDeviceHandleByIndex");
  library.bind(compute_capability, "nvmlDeviceGetCudaComputeCapability");
  library.bind(driver_model, "nvmlDeviceGetDriverModel");
  library.bind(compute_mode, "nvmlDeviceGetComputeMode");
  bind_process_query(library, compute_processes, "nvmlDeviceGetComputeRunningProcesses");
  bind_process_query(library, graphics_processes, "nvmlDeviceGetGraphicsRunningProcesses");
  bind_process_query(library, mps_processes, "nvmlDeviceGetMPSComputeRunningProcesses");

  return required(initialise, "nvmlInit_v2") && required(shut_down, "nvmlShutdown") &&
         required(error_string, "nvmlErrorString") && required(device_count, "nvmlDeviceGetCount_v2") &&
         required(device_handle, "nvmlDeviceGetHandleByIndex_v2") && required(uuid, "nvmlDeviceGetUUID") &&
         required(name, "nvmlDeviceGetName") && required(memory, "nvmlDeviceGetMemoryInfo");
}

} // namespace gputest::devices::nvml
