#pragma once

#include "devices/device_list.hpp"

#include <gputest/bytes.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace gputest::session {

/// What this process has on a device, by the device's own list of who uses it.
struct OwnContext {
  std::optional<Bytes> used; ///< context and allocations; nullopt where the driver does not say
};

/// Where this process has a context. Looks at the devices anew each time, some 13 us each (H200).
class OwnContexts {
public:
  /// Made before devices are chosen: who is listed under this process's pid then, although it has not begun to use
  /// devices, is somebody else in another pid namespace.
  explicit OwnContexts(std::shared_ptr<const devices::DeviceList> machine);

  /// Whether this process had begun to use devices when this was made, so that choosing some came too late.
  [[nodiscard]] bool begun_before() const { return begun_before_; }

  /// nullopt if it has none there, or if nobody can tell.
  [[nodiscard]] std::optional<OwnContext> on(std::size_t index) const;

  /// What it uses of a device, 0 where nobody can tell.
  [[nodiscard]] Bytes used(std::size_t index) const;

  /// Those of the machine's devices on which it has one.
  [[nodiscard]] std::vector<std::size_t> all() const;

private:
  std::shared_ptr<const devices::DeviceList> machine_;
  bool begun_before_ = false;
  std::set<std::size_t> listed_for_others_;
};

} // namespace gputest::session
