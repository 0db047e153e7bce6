#include "session/observed_run_mode.hpp"

#include "system/ctest_process.hpp"

namespace gputest::session {

policy::RunModeFinding observed_run_mode(policy::RunModeSetting setting) {
  switch (setting) {
  case policy::RunModeSetting::serial:
    return {policy::RunMode::serial, "GPUTEST_RUN_MODE=serial"};
  case policy::RunModeSetting::parallel:
    return {policy::RunMode::parallel, "GPUTEST_RUN_MODE=parallel"};
  case policy::RunModeSetting::automatic:
    break;
  }
  return policy::find_run_mode(system::look_for_ctest());
}

} // namespace gputest::session
