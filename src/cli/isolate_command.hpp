// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cli/exit_codes.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace gputest::cli {

/// What the command line of `gputest isolate` says.
struct IsolateArguments {
  std::string folder = "."; ///< --test-dir: where ctest would be started
  std::size_t shuffles = 1; ///< --shuffles
  bool json = false;
  std::vector<std::string> ctest_options; ///< after `--`
};

/// `gputest isolate`: runs the suite with a process for each case, then in workers, in order and shuffled, and prints
/// the tests whose results differ. Blocks for as long as these runs take. Returns check_failed if any differs, or if
/// all were skipped. Throws Error if ctest cannot run the suite, or if no test of it runs in workers.
[[nodiscard]] ExitCode isolate_command(const IsolateArguments& arguments);

} // namespace gputest::cli
