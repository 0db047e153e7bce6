#pragma once

#include <string>

namespace gputest::system {

/// The kernel's reason for a failure, in words, and what can be done about it where that is not plain.
[[nodiscard]] std::string reason(int error_number);

} // namespace gputest::system
