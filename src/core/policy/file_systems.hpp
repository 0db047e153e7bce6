// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

namespace gputest::policy {

/// Name of the file system of this type (`f_type` of statfs) if it may be another machine's, else nothing.
///
/// On such a one a ledger cannot be: locks and mapped memory need not hold between machines, and a FIFO never does.
[[nodiscard]] std::string_view network_file_system(std::uint32_t type);

} // namespace gputest::policy
