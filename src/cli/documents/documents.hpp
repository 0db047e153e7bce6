// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cli/documents/tool_description.hpp"

#include <string>

namespace gputest::cli {

/// `man gputest`, in the macros of man(7).
[[nodiscard]] std::string man_page(const ToolDescription& description);

} // namespace gputest::cli
