// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/child_process.hpp"

namespace gputest::tests {

/// What any program needs of this test's environment, and no more: PATH, and what the sanitizers are told.
///
/// No setting of gputest is in it: neither a developer's own ones nor the ctest that runs this test must decide.
[[nodiscard]] ChildProcess::Environment bare_environment();

} // namespace gputest::tests
