// SPDX-License-Identifier: BSD-3-Clause
#include "session/command_usage.hpp"

#include "platform/environment.hpp"
#include "platform/process.hpp"
#include "session/measurement.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace gputest::session {

namespace {

constexpr const char* injection_variable = "CUDA_INJECTION64_PATH";

} // namespace

CommandUsage::CommandUsage(std::shared_ptr<const backend::DeviceList> machine, std::vector<std::size_t> indices,
                           const std::string& injection, const Settings& settings)
    : machine_{std::move(machine)}, indices_{std::move(indices)}, sampled_peaks_(indices_.size()) {
  if (settings.meter == MeterSetting::sampled) {
    why_not_exact_ = "GPUTEST_METER=sampled";
    return;
  }
  platform::set_variable("GPUTEST_METER_FILE", tree_.path());
  if (!settings.profiler.empty()) {
    why_not_exact_ = std::string{injection_variable} + " is in use: " + settings.profiler;
  } else if (injection.empty()) {
    why_not_exact_ = "libgputest_injection.so is not beside this gputest";
  } else {
    platform::set_variable(injection_variable, injection);
  }
}

void CommandUsage::look() {
  tree_.forget_dead();
  for (std::size_t i = 0; i < indices_.size(); ++i) {
    const auto processes = machine_->memory(indices_[i]).processes;
    if (!processes) {
      continue;
    }
    has_list_ = true;
    Bytes sum;
    int contexts = 0;
    for (const auto& process : *processes) {
      if (is_of_command(process.pid)) {
        seen_.insert(process.pid);
        // A lease's allowance has room for what one context may grow by; here may be several.
        const Bytes growth = contexts++ == 0 ? Bytes{} : growth_of_a_context;
        sum += Bytes{process.used_bytes.value_or(0)} - Bytes{machine_->usual_overhead_bytes(indices_[i])} - growth;
      }
    }
    sampled_peaks_[i] = std::max(sampled_peaks_[i], sum);
  }
}

/// Whether it is a descendant of this process.
bool CommandUsage::is_of_command(std::int64_t pid) {
  const auto own = platform::own_pid();
  for (auto ancestor = platform::parent_of(static_cast<pid_t>(pid)); ancestor;
       ancestor = platform::parent_of(*ancestor)) {
    if (*ancestor == own) {
      return true;
    }
  }
  return false;
}

backend::Usage CommandUsage::end() {
  const auto members = tree_.members();
  auto why = tree_.why_not_exact();
  const bool all_metered = std::all_of(seen_.begin(), seen_.end(), [&](std::int64_t pid) {
    return std::find(members.begin(), members.end(), pid) != members.end();
  });
  if (why.empty() && !all_metered) {
    why = why_not_exact_.empty() ? "a process of the command could not be metered" : why_not_exact_;
  }
  if (why.empty() && !members.empty()) {
    return exact();
  }
  auto usage = sampled();
  usage.because = why.empty() ? "no process of the command was metered" : why;
  return usage;
}

backend::Usage CommandUsage::exact() const {
  backend::Usage usage;
  usage.evidence = backend::Evidence::exact;
  for (const auto& peak : tree_.peaks()) {
    const auto index = std::find_if(indices_.begin(), indices_.end(), [&](std::size_t each) {
      return backend::uuid_digits(machine_->devices().at(each).uuid) == peak.uuid;
    });
    backend::DeviceUsage of;
    of.device = static_cast<int>(index - indices_.begin()); // one more than the last: not a device of the lease
    of.peak = peak.bytes;
    usage.devices.push_back(std::move(of));
  }
  return usage;
}

backend::Usage CommandUsage::sampled() const {
  backend::Usage usage;
  usage.evidence = has_list_ ? backend::Evidence::sampled : backend::Evidence::unknown;
  for (std::size_t i = 0; i < indices_.size(); ++i) {
    if (sampled_peaks_[i] > Bytes{}) {
      backend::DeviceUsage of;
      of.device = static_cast<int>(i);
      of.peak = sampled_peaks_[i];
      usage.devices.push_back(std::move(of));
    }
  }
  return usage;
}

} // namespace gputest::session
