// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cli/exit_codes.hpp"

#include <string>

namespace gputest::cli {

/// What the command line of `gputest classify` says.
struct ClassifyArguments {
  std::string folder = "."; ///< --test-dir: where ctest was started
  std::string log;    ///< --log: a file or a folder; empty: what GPUTEST_LOG names, or Testing/gputest in `folder`
  std::string source; ///< --source; empty: the source folder of the build tree `folder`
  bool check = false;
  bool patch = false;
  bool json = false;
};

/// `gputest classify`: prints what tests declare beside what was measured of them, and what to write instead,
/// or that as a patch. Writes no file. Throws Error if there is no log.
[[nodiscard]] ExitCode classify_command(const ClassifyArguments& arguments);

} // namespace gputest::cli
