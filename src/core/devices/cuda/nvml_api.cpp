// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/cuda/nvml_api.hpp"

#include "core/devices/device_list.hpp"

#include <algorithm>

namespace gputest::devices::nvml {

namespace {

/// Binds a process list. The `_v2` functions come first although there are `_v3` ones: drivers 535.43 to 535.86 (CUDA
/// 12.2) fill a longer struct through `_v3`, later ones drop it and then bring it back; `_v2` never changed.
void bind_process_query(const os::SharedLibrary& library, ProcessQuery*& query, const std::string& name) {
  if (!library.bind(query, (name + "_v2").c_str())) {
    library.bind(query, (name + "_v3").c_str());
  }
}

// A longer list would mean that the driver asks for more space without end.
constexpr std::size_t max_processes = 1U << 16U;

/// A process may be in several lists, each with all of its memory: one entry then, with the larger figure.
void merge(std::vector<ProcessMemory>& processes, const ProcessInfo& info) {
  ProcessMemory process{info.pid, info.used_bytes};
  if (info.used_bytes == value_not_available) {
    process.used_bytes.reset();
  }
  const auto same = std::find_if(processes.begin(), processes.end(),
                                 [&](const ProcessMemory& other) { return other.pid == process.pid; });
  if (same == processes.end()) {
    processes.push_back(process);
  } else {
    same->used_bytes = std::max(same->used_bytes, process.used_bytes); // an optional without a value is the smallest
  }
}

/// Adds one of NVML's lists to `processes`; false if there is no such list.
bool add_list(ProcessQuery* query, Handle device, std::vector<ProcessMemory>& processes) {
  if (query == nullptr) {
    return false;
  }
  // Processes may start while one asks: NVML then says how much room it needs, and by the next call it may need more.
  std::vector<ProcessInfo> infos(32);
  auto count = static_cast<unsigned>(infos.size());
  auto result = query(device, &count, infos.data());
  while (result == insufficient_size) {
    const auto module = std::max<std::size_t>(count, infos.size()) * 2;
    if (module > max_processes) {
      return false;
    }
    infos.resize(module);
    count = static_cast<unsigned>(module);
    result = query(device, &count, infos.data());
  }
  if (result != success) {
    return false;
  }
  infos.resize(std::min<std::size_t>(count, infos.size()));
  std::for_each(infos.begin(), infos.end(), [&](const ProcessInfo& info) { merge(processes, info); });
  return true;
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
  library.bind(compute_mode, "nvmlDeviceGetComputeMode");
  library.bind(numa_node, "nvmlDeviceGetNumaNodeId");
  bind_process_query(library, compute_processes, "nvmlDeviceGetComputeRunningProcesses");
  bind_process_query(library, graphics_processes, "nvmlDeviceGetGraphicsRunningProcesses");
  bind_process_query(library, mps_processes, "nvmlDeviceGetMPSComputeRunningProcesses");

  return required(initialise, "nvmlInit_v2") && required(shut_down, "nvmlShutdown") &&
         required(error_string, "nvmlErrorString") && required(device_count, "nvmlDeviceGetCount_v2") &&
         required(device_handle, "nvmlDeviceGetHandleByIndex_v2") && required(uuid, "nvmlDeviceGetUUID") &&
         required(name, "nvmlDeviceGetName") && required(memory, "nvmlDeviceGetMemoryInfo");
}

Result read_memory(const Functions& functions, Handle device, MemoryFigures& figures) {
  MemoryV2 v2{};
  v2.version = memory_v2_version;
  if (functions.memory_v2 != nullptr && functions.memory_v2(device, &v2) == success) {
    figures = {v2.total, v2.reserved, v2.used};
    return success;
  }
  Memory v1{};
  const auto result = functions.memory(device, &v1);
  if (result == success) {
    figures = {v1.total, 0, v1.used};
  }
  return result;
}

std::optional<std::vector<ProcessMemory>> list_processes(const Functions& functions, Handle device) {
  std::vector<ProcessMemory> processes;
  if (!add_list(functions.compute_processes, device, processes)) {
    return std::nullopt;
  }
  // These two may be missing (a MIG slice has no graphics): the processes that use CUDA are what matters.
  add_list(functions.graphics_processes, device, processes);
  add_list(functions.mps_processes, device, processes);
  return processes;
}

} // namespace gputest::devices::nvml
