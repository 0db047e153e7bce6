// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/ledger/client.hpp"
#include "core/ledger/result.hpp"

#include <mutex>

namespace gputest::ledger {

/// Brings the claim in client.own(), which asks for something, to a result; blocks as `patience` allows, without the
/// mutex. `seen` is what the devices that it asks for showed just now.
[[nodiscard]] Result wait_for_grant(Client& client, std::unique_lock<os::FileLock>& guard, const Patience& patience,
                                    Observations seen);

} // namespace gputest::ledger
