// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <set>
#include <string>
#include <vector>

namespace gputest::settings {

/// The settings: each environment variable that the parsers of settings.hpp read and that begins with GPUTEST_.
[[nodiscard]] std::set<std::string> names_of_settings();

/// Refuses environment variables that begin with GPUTEST_ and that nothing reads, because a mistyped setting would be
/// ignored. Variables of gputest's CMake project are no settings, and are accepted. Throws InvalidSetting that names
/// each of them with the nearest setting. Pure.
void refuse_unknown(const std::vector<std::string>& names);

/// The same for the names of this process's environment.
void refuse_unknown_variables();

} // namespace gputest::settings
