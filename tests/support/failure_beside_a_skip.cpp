// SPDX-License-Identifier: BSD-3-Clause
// Fails, and prints what GoogleTest prints of a skipped test: CTest must call it failed (tests/CMakeLists.txt).
#include <gtest/gtest.h>

#include <cstdio>

TEST(Failure, is_no_skip_whatever_is_printed) {
  std::puts("[  SKIPPED ] Inner.suite (0 ms)");
  FAIL() << "on purpose";
}
