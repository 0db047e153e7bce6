// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/meter.hpp"
#include "core/session/account.hpp"

#include <gputest/bytes.hpp>

#include <string>
#include <vector>

namespace gputest::session {

/// What a test's end is to record of its memory resources.
struct Summary {
  std::string kinds;   ///< `pool`, or several of them; empty if the test used none
  std::string spilled; ///< managed memory that went to the host, or `not visible`; empty without managed memory
  std::vector<devices::DeviceUsage> left; ///< allocated under the lease and not freed, of each device
  Bytes managed;                          ///< managed memory that the process still has, on the device with most of it
};

/// Ends what Account::open() began: says on stderr what has spilled to the host. Does not
/// throw.
Summary close_lease() noexcept;

} // namespace gputest::session
