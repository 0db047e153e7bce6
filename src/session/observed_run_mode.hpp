#pragma once

#include "policy/run_mode.hpp"
#include "policy/settings.hpp"

namespace gputest::session {

/// The run mode that GPUTEST_RUN_MODE demands, or else the one that the ctest above this process shows.
[[nodiscard]] policy::RunModeFinding observed_run_mode(policy::RunModeSetting setting);

} // namespace gputest::session
