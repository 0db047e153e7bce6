// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iostream>
#include <string>

/// Writes `@where` and waits for a line on standard input, so that the test that drives this suite can look around.
/// Goes on at once where standard input has ended.
inline void stop_at(const std::string& where) {
  std::cout << "@" << where << std::endl;
  std::string line;
  std::getline(std::cin, line);
}
