// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/device_facts.hpp"

namespace gputest::policy {

std::string to_string(ComputeMode mode) {
  switch (mode) {
  case ComputeMode::usual:
    return "default";
  case ComputeMode::exclusive_process:
    return "EXCLUSIVE_PROCESS";
  case ComputeMode::prohibited:
    return "PROHIBITED";
  }
  return "unknown";
}

std::string to_string(DriverModel model) {
  switch (model) {
  case DriverModel::none:
    return "-";
  case DriverModel::tcc:
    return "TCC";
  case DriverModel::wddm:
    return "WDDM";
  }
  return "unknown";
}

std::string why_unusable(const DeviceFacts& facts) {
  if (facts.lost) {
    return "it does not answer (lost, or in error); nvidia-smi shows its state, and a reset or a reboot brings it back";
  }
  if (facts.compute_mode == ComputeMode::prohibited) {
    return "its compute mode is PROHIBITED, so no process may use it; `nvidia-smi -c DEFAULT` allows it";
  }
  return "";
}

std::vector<std::string> oddities(const DeviceFacts& facts) {
  std::vector<std::string> all;
  if (facts.compute_mode == ComputeMode::exclusive_process) {
    all.emplace_back("compute mode EXCLUSIVE_PROCESS: one process at a time is let in");
  }
  if (facts.shares_host_memory) {
    all.emplace_back("integrated: its memory is the host's, so what the host has available counts as free");
  }
  if (!facts.lists_processes) {
    all.emplace_back(
        "the driver does not say which processes use it: what is in use beyond all claims counts as "
        "external processes', and memory of a killed process as back when nothing is in use, or after a second");
  }
  if (facts.driver_model == DriverModel::wddm) {
    all.emplace_back("driver model WDDM: the driver does not say how much each process uses, so what is in use beyond "
                     "all claims counts as external processes'");
  }
  if (!facts.why_unknown.empty()) {
    all.emplace_back("capabilities are unknown, and count as missing: " + facts.why_unknown);
  }
  return all;
}

} // namespace gputest::policy
