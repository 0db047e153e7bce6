// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/bytes.hpp>

namespace gputest::core {

/// Writes the most that a test has allocated of a device to standard output, in the form that CTest takes for a
/// measurement of the entry: `gputest_peak_mib`.
void tell_peak(Bytes peak);

} // namespace gputest::core
