// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/device_list.hpp"
#include "core/devices/this_process.hpp"

#include <gputest/bytes.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gputest::session {

/// The devices on which this process has a context, according to their lists of processes. Each call reads the devices
/// again: 0.1 to 0.5 ms each (H200).
class OwnContexts {
public:
  /// Construct it before devices are chosen. A process that is listed under this process's pid then, although this
  /// process has not begun to use devices, is another one in another pid namespace.
  OwnContexts(std::shared_ptr<const devices::DeviceList> machine, const devices::ThisProcess& process);

  /// Whether this process had begun to use devices when this was constructed, so that it is too late to choose some.
  [[nodiscard]] bool begun_before() const { return begun_before_; }

  /// What it has on a device, its context included; nullopt if it has none there or if this is not known, 0 if it has
  /// one of unknown size.
  [[nodiscard]] std::optional<Bytes> on(std::size_t index) const;

  /// The same, 0 if there is none.
  [[nodiscard]] Bytes used(std::size_t index) const { return on(index).value_or(Bytes{}); }

  /// The machine's devices on which it has a context.
  [[nodiscard]] std::vector<std::size_t> all() const;

  /// Failures of the test `who` for contexts on other devices than those `given` to this process, each found once; they
  /// say what to do.
  [[nodiscard]] std::vector<std::string> strays(const std::vector<std::size_t>& given, const std::string& who);

private:
  std::shared_ptr<const devices::DeviceList> machine_;
  bool begun_before_ = false;
  std::set<std::size_t> listed_for_others_;
  std::set<std::size_t> found_strays_;
};

} // namespace gputest::session
