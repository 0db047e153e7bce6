// SPDX-License-Identifier: BSD-3-Clause
#include "memory/lease_scope.hpp"

#include "backend/this_process.hpp"
#include "session/messages.hpp"

#include <exception>
#include <utility>

namespace gputest::memory {

namespace {

void tell_left(const std::string& test, const Left& left) {
  session::tell(test + " ends with " + to_string(left.bytes) + " of device " + std::to_string(left.device) +
                " still allocated through memory_resource (" + std::to_string(left.allocations) + " allocation" +
                (left.allocations == 1 ? "" : "s") +
                "); they count as this process's own until they are freed or it ends");
}

std::string tell_spills(const std::string& test) {
  const auto spills = backend::MemorySource::instance().take_spills();
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
      tell_left(closing->test, left);
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

} // namespace gputest::memory
