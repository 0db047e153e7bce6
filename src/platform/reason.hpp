#pragma once

#include <string>

namespace gputest::platform {

/// The kernel's reason for a failure, in words, and what to do about it if that is not obvious.
[[nodiscard]] std::string reason(int error_number);

} // namespace gputest::platform
