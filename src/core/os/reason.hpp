// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/error.hpp>

#include <string>

namespace gputest::os {

/// The kernel's reason for a failure, in words, and what to do about it if that is not obvious.
[[nodiscard]] std::string reason(int error_number);

/// "cannot <do it> <path>: <reason>".
[[nodiscard]] LedgerError failure(const std::string& to_do, const std::string& path, int error_number);

} // namespace gputest::os
