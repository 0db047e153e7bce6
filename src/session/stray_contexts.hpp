#pragma once

#include "devices/device_list.hpp"
#include "session/own_contexts.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace gputest::session {

/// Contexts on devices that were not given to this process, each found once.
class StrayContexts {
public:
  /// Looks for new ones. What is wrong with each that was found, and what to do: a failure of the test `who`.
  [[nodiscard]] std::vector<std::string> look(const OwnContexts& contexts, const devices::DeviceList& machine,
                                              const std::vector<std::size_t>& given, const std::string& who);

private:
  std::set<std::size_t> found_;
};

} // namespace gputest::session
