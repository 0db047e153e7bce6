// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

namespace gputest::benchmarks {

/// What a system call that failed is thrown as.
inline std::system_error failure(const std::string& what, int error = errno) {
  return std::system_error{error, std::generic_category(), "cannot " + what};
}

/// For calls that return -1 and set errno.
template <class Value>
Value must(Value value, const std::string& what) {
  if (value == static_cast<Value>(-1)) {
    throw failure(what);
  }
  return value;
}

} // namespace gputest::benchmarks
