// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace gputest {

/// Why a test does not run.
enum class SkipCause {
  no_gpu,  ///< the machine has no GPU, or too few
  machine, ///< its devices are too small, or lack a capability
  run,     ///< how the tests are run: others beside a large one, an earlier test that left the process unusable
};

/// The result of a request for devices or memory.
struct Outcome {
  enum class Kind { granted, skip, fail };
  Kind kind = Kind::granted;
  std::string reason;               ///< of a skip or a failure: what was asked, what was seen, what to do
  bool not_freed = false;           ///< fail: the memory did not become free, in time or at all
  SkipCause cause = SkipCause::run; ///< of a skip
};

/// The exit code of a test executable in which nothing failed and all tests were skipped. In an entry of
/// gpu_add_test(), which sets SKIP_RETURN_CODE to it, one test that gputest skipped is enough.
inline constexpr int skipped_exit_code = 77;

/// The same in an entry that nobody watches (MEMORY none), whose SKIP_RETURN_CODE it is: a test may end the process
/// with 77 for a reason of its own, as MemorySanitizer does.
inline constexpr int unwatched_skip_code = 219;

} // namespace gputest
