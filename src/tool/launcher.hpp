// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/settings/settings.hpp"
#include "tool/exit_codes.hpp"

#include <string>
#include <vector>

namespace gputest::tool {

/// What `gputest run` is asked for.
struct Launch {
  settings::ReadVariable read;      ///< the environment's settings, those of the command line before them
  std::vector<std::string> command; ///< and its arguments, not changed
  bool if_gpu = false;
};

/// Waits for the GPU memory, then becomes the command. Returns only if the command does not start.
///
/// The command replaces this process (exec) instead of being its child. So it has the pid that ctest started, and
/// ctest's kill, the terminal's signals and the exit status reach it directly. The kernel keeps the slot in the ledger
/// as long as a process that inherited it is alive: the command, or a process that the command left behind on the GPU.
///
/// In an entry of gpu_add_test() (GPUTEST_ENTRY=ctest) the command is a child instead, and this process ends as judge()
/// says: CTest must not take the command's 77 for a skip of gputest's, nor a process that has ended in the middle of
/// its tests for one that passed.
///
/// With `if_gpu`, a command that uses no GPU, or only lists tests, replaces this process at once: no setting is read,
/// and no device or ledger is opened. So does every command where there is no GPU, unless CTest is to see a skip.
///
/// Throws InvalidSetting, LedgerError.
[[nodiscard]] ExitCode launch_command(const Launch& launch);

} // namespace gputest::tool
