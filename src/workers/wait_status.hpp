// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace gputest::workers {

/// How a process ended whose waitpid() status this is: `by the signal Aborted`, `with the exit code 3`.
[[nodiscard]] std::string describe_end(int status);

/// Ends this process in the same way: by the same signal, without a core file, or with the exit code that it returns.
[[nodiscard]] int end_as(int status);

/// Whether a case with this exit code has passed, or was skipped.
[[nodiscard]] bool does_not_fail(int exit_code);

} // namespace gputest::workers
