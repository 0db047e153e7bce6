// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

namespace gputest::os {

/// What `answer` says of a large file, remembered for this user until the file changes; `question` says what is asked.
///
/// The answers are in a table of a fixed size, `answers` in user_folder(), in which later ones replace others, so nobody
/// has to clean up. Where it cannot be used, `answer` is asked each time. Several processes may ask at once.
[[nodiscard]] bool remembered(const std::string& path, const std::string& question,
                              const std::function<bool()>& answer);

} // namespace gputest::os
