// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tool/documents/tool_description.hpp"

#include <string>

namespace gputest::tool {

/// `man gputest`, in the macros of man(7).
[[nodiscard]] std::string man_page(const ToolDescription& description);

} // namespace gputest::tool
