// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace gputest::report {

/// What of a C++ source a compiler sees: comments, and what `#if 0` and the like leave out, are blanks. The characters
/// of strings are dots. Every byte is where it was. Pure.
[[nodiscard]] std::string code_of_cpp(const std::string& text);

/// The same of a CMake file.
[[nodiscard]] std::string code_of_cmake(const std::string& text);

} // namespace gputest::report
