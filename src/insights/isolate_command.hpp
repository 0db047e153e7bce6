// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tool/exit_codes.hpp"
#include "tool/insight_arguments.hpp"

namespace gputest::insights {

/// `gputest isolate`: runs the suite with a process for each case, then in workers, in order and shuffled, and prints
/// the tests whose results differ. Blocks for as long as these runs take. Returns check_failed if any differs, or if
/// all were skipped. Throws Error if ctest cannot run the suite, or if no test of it runs in workers.
[[nodiscard]] tool::ExitCode isolate_command(const tool::IsolateArguments& arguments);

} // namespace gputest::insights
