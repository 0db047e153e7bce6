// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/device_list.hpp"
#include "core/session/own_contexts.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace gputest::session {

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
