// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/outcome.hpp>

namespace gputest::tool {

/// How the tool ends. Numbers from sysexits.h where it has one, 77 as in CTest and Automake, 126 and 127 as in the
/// shell. `gputest run` ends with its command's own status once the command runs; in an entry of
/// gpu_add_test() a 0 or 77 that gputest did not confirm becomes 1.
enum class ExitCode {
  done = 0,
  check_failed = 1, ///< `needs --check`: a test took too much
  tests_failed = 8, ///< `merge`, `slurm`: the number of ctest
  wrong_command_line = 64,
  no_gpu = 69,         ///< no usable GPU, or another skip, although a setting forbids it, or more than the parent lease
  internal_error = 70, ///< or output that cannot be written, or a ledger that cannot be used
  wait_limit = 75,     ///< the memory did not become free in time
  skipped = skipped_exit_code,
  unusable_setting = 78, ///< an environment variable cannot be used
  cannot_execute = 126,  ///< the command is there but cannot be executed
  not_found = 127,       ///< there is no such command
};

/// The number that the process returns.
[[nodiscard]] constexpr int to_int(ExitCode code) { return static_cast<int>(code); }

} // namespace gputest::tool
