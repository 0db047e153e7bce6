// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/lease_scope.hpp"

#include "core/devices/this_process.hpp"
#include "core/session/messages.hpp"

#include <exception>
#include <utility>

namespace gputest::session {

namespace {

devices::AllocationKind as_measured(MemoryKind kind) {
  switch (kind) {
  case MemoryKind::pool:
    return devices::AllocationKind::pool;
  case MemoryKind::malloc:
    return devices::AllocationKind::device;
  case MemoryKind::managed:
    break;
  }
  return devices::AllocationKind::managed;
}

std::string tell_spills(const std::string& test) {
  const auto spills = devices::MemorySource::instance().take_spills();
  if (!spills) {
    static bool told = false;
    if (!std::exchange(told, true)) {
      session::tell(test + " used managed memory; how much of it spilled to the host cannot be seen, since the CUDA "
                           "driver does not report where a page is");
    }
    return "not visible";
  }
  Bytes all;
  for (const auto& [device, bytes] : *spills) {
    session::tell(test + ": " + to_string(bytes) + " of managed memory of device " + std::to_string(device) +
                  " spilled to the host, since the device had no room for them");
    all += bytes;
  }
  return to_string(all);
}

} // namespace

Summary close_lease() noexcept {
  Summary summary;
  try {
    const auto closing = Account::instance().close();
    if (!closing) {
      return summary;
    }
    for (const auto kind : closing->kinds) {
      summary.kinds += (summary.kinds.empty() ? "" : ", ") + std::string{to_string(kind)};
    }
    for (const auto& left : closing->left) {
      if (summary.left.empty() || summary.left.back().device != left.device) {
        summary.left.emplace_back().device = left.device;
      }
      summary.left.back().left.push_back({as_measured(left.kind), "memory_resource", left.bytes, left.allocations});
    }
    summary.managed = closing->managed;
    if (closing->kinds.count(MemoryKind::managed) != 0) {
      summary.spilled = tell_spills(closing->test);
    }
  } catch (const std::exception& error) {
    session::tell(error.what());
  }
  return summary;
}

} // namespace gputest::session
