// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gputest::os {

/// The value of an environment variable; nullopt if it is not set, which is not the same as empty.
[[nodiscard]] std::optional<std::string> read_variable(const char* name);

/// The value, or an empty text.
[[nodiscard]] std::string variable(const char* name);

/// All variables, `NAME=value`, in the order of the environment.
[[nodiscard]] std::vector<std::string> environment();

/// The names of all variables that begin with `prefix`, in the order of the environment.
[[nodiscard]] std::vector<std::string> variables_with(const std::string& prefix);

/// Sets a variable for this process and those it starts. Not while other threads read the environment.
void set_variable(const char* name, const std::string& value);

/// Removes a variable, likewise.
void remove_variable(const char* name);

} // namespace gputest::os
