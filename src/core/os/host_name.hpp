// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace gputest::os {

/// This machine's name, as it knows itself; empty if it has none.
[[nodiscard]] std::string host_name();

} // namespace gputest::os
