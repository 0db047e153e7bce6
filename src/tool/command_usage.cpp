// SPDX-License-Identifier: BSD-3-Clause
#include "tool/command_usage.hpp"

#include "core/os/process.hpp"
#include "core/session/measurement.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace gputest::tool {

namespace {

/// Whether it is a descendant of this process.
bool is_of_command(std::int64_t pid) {
  const auto own = os::own_pid();
  for (auto ancestor = os::parent_of(static_cast<pid_t>(pid)); ancestor; ancestor = os::parent_of(*ancestor)) {
    if (*ancestor == own) {
      return true;
    }
  }
  return false;
}

} // namespace

CommandUsage::CommandUsage(std::shared_ptr<const devices::DeviceList> machine, std::vector<std::size_t> indices)
    : machine_{std::move(machine)}, indices_{std::move(indices)}, peaks_(indices_.size()) {}

void CommandUsage::sample() {
  for (std::size_t i = 0; i < indices_.size(); ++i) {
    const auto processes = machine_->memory(indices_[i]).processes;
    if (!processes) {
      continue;
    }
    has_list_ = true;
    const Bytes context{machine_->usual_overhead_bytes(indices_[i])};
    Bytes sum;
    Bytes used;
    int contexts = 0;
    for (const auto& process : *processes) {
      if (is_of_command(process.pid)) {
        // A lease's allowance has room for what one context may grow by; here may be several.
        const Bytes growth = contexts++ == 0 ? Bytes{} : session::growth_of_a_context;
        used += Bytes{process.used_bytes.value_or(0)};
        sum += Bytes{process.used_bytes.value_or(0)} - context - growth;
      }
    }
    peaks_[i] = std::max(peaks_[i], sum);
    needed_ = std::max(needed_, used - context);
  }
}

devices::Usage CommandUsage::end() const {
  devices::Usage usage;
  usage.evidence = has_list_ ? devices::Evidence::sampled : devices::Evidence::unknown;
  usage.because = has_list_ ? "the devices were asked ten times a second" : "the devices list no processes";
  for (std::size_t i = 0; i < indices_.size(); ++i) {
    if (peaks_[i] > Bytes{}) {
      auto& device = usage.devices.emplace_back();
      device.device = static_cast<int>(i);
      device.peak = peaks_[i];
    }
  }
  return usage;
}

} // namespace gputest::tool
