// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/cuda/nvml_queries.hpp"

#include <algorithm>
#include <array>

namespace gputest::devices::nvml {

namespace {

// A longer list would mean that the driver asks for more space without end.
constexpr std::size_t max_processes = 1U << 16U;

/// A process may be in several lists, each with all of its memory: one entry then, with the larger figure.
void merge(std::vector<NvmlProcess>& processes, const ProcessInfo& info) {
  NvmlProcess process{info.pid, info.used_bytes};
  if (info.used_bytes == value_not_available) {
    process.used_bytes.reset();
  }
  const auto same = std::find_if(processes.begin(), processes.end(),
                                 [&](const NvmlProcess& other) { return other.pid == process.pid; });
  if (same == processes.end()) {
    processes.push_back(process);
  } else {
    same->used_bytes = std::max(same->used_bytes, process.used_bytes); // an optional without a value is the smallest
  }
}

/// Adds one of NVML's lists to `processes`; false if there is no such list.
bool add_list(ProcessQuery* query, Handle device, std::vector<NvmlProcess>& processes) {
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

std::optional<std::vector<NvmlProcess>> list_processes(const Functions& functions, Handle device) {
  std::vector<NvmlProcess> processes;
  if (!add_list(functions.compute_processes, device, processes)) {
    return std::nullopt;
  }
  // These two may be missing (a MIG slice has no graphics): the processes that use CUDA are what matters.
  add_list(functions.graphics_processes, device, processes);
  add_list(functions.mps_processes, device, processes);
  return processes;
}

std::optional<unsigned> read_compute_capability(const Functions& functions, Handle gpu) {
  int major = 0;
  int minor = 0;
  if (functions.compute_capability == nullptr || functions.compute_capability(gpu, &major, &minor) != success) {
    return std::nullopt;
  }
  return static_cast<unsigned>(major * 10 + minor);
}

policy::DriverModel read_driver_model(const Functions& functions, Handle gpu) {
  int now = 0;
  int after_reboot = 0;
  if (functions.driver_model == nullptr || functions.driver_model(gpu, &now, &after_reboot) != success) {
    return policy::DriverModel::none;
  }
  return now == driver_tcc    ? policy::DriverModel::tcc
         : now == driver_wddm ? policy::DriverModel::wddm
                              : policy::DriverModel::none;
}

policy::ComputeMode read_compute_mode(const Functions& functions, Handle gpu) {
  int mode = 0;
  if (functions.compute_mode == nullptr || functions.compute_mode(gpu, &mode) != success) {
    return policy::ComputeMode::usual;
  }
  return mode == mode_exclusive_process ? policy::ComputeMode::exclusive_process
         : mode == mode_prohibited      ? policy::ComputeMode::prohibited
                                        : policy::ComputeMode::usual;
}

Result read_text(Result (*query)(Handle, char*, unsigned), Handle device, std::string& text) {
  std::array<char, text_size> buffer{};
  const auto result = query(device, buffer.data(), text_size);
  if (result == success) {
    text = buffer.data();
  }
  return result;
}

} // namespace gputest::devices::nvml
