// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "backend/device_list.hpp"
#include "backend/meter.hpp"
#include "backend/tree_usage.hpp"

#include <gputest/settings.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace gputest::session {

/// Measures what a command allocates that is a child of this process, with all that it starts.
///
/// Exact if each of its processes that uses a device is metered: by the library that the CUDA driver loads into it, by
/// gputest in it, or because devices are simulated. Each look at the devices' process lists finds those that are not;
/// then the most that any look has shown is a lower bound.
class CommandUsage {
public:
  /// `indices` are the devices of the lease. Sets the variables that the command inherits: GPUTEST_METER_FILE, and
  /// CUDA_INJECTION64_PATH if nobody else uses it. `injection` is the library's path; empty: there is none. If
  /// the settings say so, only samples are taken. Throws Error.
  CommandUsage(std::shared_ptr<const backend::DeviceList> machine, std::vector<std::size_t> indices,
               const std::string& injection, const Settings& settings);

  /// Looks at the devices. Takes 0.3 to 0.5 ms each (H200).
  void look();

  /// What was allocated. `device` is the device's place among those of the lease; of others a larger number.
  [[nodiscard]] backend::Usage end();

private:
  [[nodiscard]] bool is_of_command(std::int64_t pid);
  [[nodiscard]] backend::Usage exact() const;
  [[nodiscard]] backend::Usage sampled() const;

  std::shared_ptr<const backend::DeviceList> machine_;
  std::vector<std::size_t> indices_;
  backend::TreeUsage tree_;
  std::set<std::int64_t> seen_;      ///< processes of the command that a device has listed
  std::vector<Bytes> sampled_peaks_; ///< of each device, contexts not counted
  bool has_list_ = false;            ///< whether a device lists processes
  std::string why_not_exact_;
};

} // namespace gputest::session
