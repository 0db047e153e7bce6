// SPDX-License-Identifier: BSD-3-Clause
#include "support/run_tests.hpp"

#include <gtest/gtest.h>

#include <cstdio>

namespace gputest::tests {

int run_tests() {
  const int result = RUN_ALL_TESTS();
  const auto& unit_test = *::testing::UnitTest::GetInstance();
  const int selected = unit_test.test_to_run_count();
  if (selected == 0) {
    std::fputs("no test was selected: the filter names none of this executable\n", stderr);
    return 1;
  }
  return result == 0 && unit_test.skipped_test_count() == selected ? skipped_exit_code : result;
}

} // namespace gputest::tests
