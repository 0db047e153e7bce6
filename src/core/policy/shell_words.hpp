// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace gputest::policy {

/// A command line that a POSIX shell reads as exactly these words, quoted only where that is needed. Pure.
[[nodiscard]] std::string shell_words(const std::vector<std::string>& words);

} // namespace gputest::policy
