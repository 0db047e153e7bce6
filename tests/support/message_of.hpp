// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace gputest::tests {

/// What the error says that `function` throws; `done` if it throws none.
template <class Error, class Function>
std::string message_of(Function function) {
  try {
    function();
    return "done";
  } catch (const Error& error) {
    return error.what();
  }
}

} // namespace gputest::tests
