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

/// What this process has on a device, according to the device's list of processes.
struct OwnContext {
  std::optional<Bytes> used; ///< context and allocations; nullopt if the driver does not say
};

/// The devices on which this process has a context. Each call reads the devices again: 0.1 to 0.5 ms each (H200).
class OwnContexts {
public:
  /// Construct it before devices are chosen. A process that is listed under this process's pid then, although this
  /// process has not begun to use devices, is another one in another pid namespace.
  OwnContexts(std::shared_ptr<const devices::DeviceList> machine, const devices::ThisProcess& process);

  /// Whether this process had begun to use devices when this was constructed, so that it is too late to choose some.
  [[nodiscard]] bool begun_before() const { return begun_before_; }

  /// nullopt if it has none there, or if this is not known.
  [[nodiscard]] std::optional<OwnContext> on(std::size_t index) const;

  /// What it uses of a device; 0 if not known.
  [[nodiscard]] Bytes used(std::size_t index) const;

  /// The machine's devices on which it has a context.
  [[nodiscard]] std::vector<std::size_t> all() const;

private:
  std::shared_ptr<const devices::DeviceList> machine_;
  bool begun_before_ = false;
  std::set<std::size_t> listed_for_others_;
};

/// Contexts on devices that were not given to this process, each found once.
class StrayContexts {
public:
  /// Looks for new ones. Returns, for each, a failure of the test `who` that says what to do.
  [[nodiscard]] std::vector<std::string> look(const OwnContexts& contexts, const devices::DeviceList& machine,
                                              const std::vector<std::size_t>& given, const std::string& who);

private:
  std::set<std::size_t> found_;
};

} // namespace gputest::session
