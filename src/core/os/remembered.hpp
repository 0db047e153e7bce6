// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace gputest::os {

/// What `answer` says of a large file, remembered for this user until the file changes; `question` says what is asked.
/// nullopt, which `answer` says where it cannot tell, is not remembered, nor is anything of a file that has changed
/// within the last seconds before `now`: it may change again without another time.
///
/// The answers are in a table of a fixed size, `answers` in user_folder(), in which later ones replace others, so
/// nobody has to clean up. Where it cannot be used, `answer` is asked each time. Several processes may ask at once.
[[nodiscard]] std::optional<bool>
remembered(const std::string& path, const std::string& question, const std::function<std::optional<bool>()>& answer,
           std::chrono::system_clock::time_point now = std::chrono::system_clock::now());

} // namespace gputest::os
