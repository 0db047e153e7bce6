// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

namespace gputest::settings {

/// The folder for run logs that GPUTEST_LOG names; nullopt if it names none. Throws InvalidSetting.
[[nodiscard]] std::optional<std::string> chosen_log_folder();

} // namespace gputest::settings
