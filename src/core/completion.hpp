// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace gputest::core {

/// Writes the line that CTest looks for in the output of an entry, after what was printed before, to standard error
/// and, if that is another file, to standard output.
///
/// CTest can search an output for a text, but not fail a test for want of one, unless it then ignores the exit code
/// (PASS_REGULAR_EXPRESSION). It can fail a test whose whole output has another form. So the line ends with a DEL and a
/// tab, which no terminal shows and no text contains (cmake/detail/sentinel.cmake).
void tell_completion(const std::string& entry);

} // namespace gputest::core
