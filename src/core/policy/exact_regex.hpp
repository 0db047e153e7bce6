// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace gputest::policy {

/// A regular expression of CMake's and CTest's that matches this text and nothing else: `^Sort\.keys$`. Pure.
[[nodiscard]] std::string exact_regex(const std::string& text);

} // namespace gputest::policy
