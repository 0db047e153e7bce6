// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <string>

namespace gputest::tests {

/// The path of cmake or ctest: this build's, or the one in DISCOVERY_CMAKE_FOLDER if that is set.
inline std::string program(const std::string& name) {
  if (const char* const folder = std::getenv("DISCOVERY_CMAKE_FOLDER"); folder != nullptr) {
    return std::string{folder} + "/" + name;
  }
  return name == "cmake" ? DISCOVERY_CMAKE : DISCOVERY_CTEST;
}

} // namespace gputest::tests
