// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace gputest::workers {

/// How a process ended whose waitpid() status this is: `by the signal Aborted`, `with the exit code 3`.
[[nodiscard]] std::string describe_end(int status);

/// Whether a case with this exit code has passed, or was skipped.
[[nodiscard]] bool does_not_fail(int exit_code);

/// Ends this process by the signal, even if it is handled or blocked, without a core file. What was printed is written.
[[noreturn]] void end_by_signal(int signal);

} // namespace gputest::workers
