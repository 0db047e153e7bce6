// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
namespace gputest::os {

/// Type of the file system that an open file is on: `f_type` of fstatfs. 0 if it is not known.
[[nodiscard]] std::uint32_t file_system_type(int descriptor);

} // namespace gputest::os
