// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace gputest::os {

/// The login name of a user, or the number itself if this machine (or container) knows no such user.
[[nodiscard]] std::string user_name(std::uint32_t uid);

} // namespace gputest::os
