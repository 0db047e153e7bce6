#pragma once

#include "policy/run_mode.hpp"

namespace gputest::platform {

/// Looks for the ctest that started this process and gathers what find_run_mode() needs, from /proc and preset files.
///
/// Never throws: what cannot be read is left out. Asks ctest for its version (one process, about 10 ms) only where the
/// answer depends on it.
[[nodiscard]] policy::CtestSighting look_for_ctest();

} // namespace gputest::platform
