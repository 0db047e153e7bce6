// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tool/exit_codes.hpp"

#include <string>

namespace gputest::tool {

/// `gputest devices --resource-spec`: writes a resource spec file for the ctest that has started this process into
/// `folder`, under a name that no other ctest has, and prints resource_facts() for it.
///
/// Prints nothing if ctest is not to schedule: the setting says so, the user has or may have a resource spec file of
/// their own, or there is no device. Replaces the file as a whole. Removes files of ctests that have ended; those of
/// other containers and machines ten minutes after they were written. Throws InvalidSetting, LedgerError, and
/// std::filesystem::filesystem_error if the folder cannot be written to.
[[nodiscard]] ExitCode resource_spec_command(const std::string& folder);

} // namespace gputest::tool
