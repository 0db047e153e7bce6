// SPDX-License-Identifier: BSD-3-Clause
// A main() of one's own, with the one call or with what that installs; DROP=1: the result is dropped. FILTER: it sets
// another filter; THEN: it runs tests a second time, by that one. IGNORE=1: whatever the first time was. END=1: without
// handlers. RETURNS_77=1: before any test. FAILS_LATE=1: a listener throws when the tests have ended.

#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

#include <unistd.h>

namespace {

class FailsLate : public testing::EmptyTestEventListener {
  void OnTestProgramEnd(const testing::UnitTest& /*unit_test*/) override {
    throw std::runtime_error{"too late for a test"};
  }
};

} // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (std::getenv("RETURNS_77") != nullptr) {
    return 77;
  }
  if (std::getenv("FAILS_LATE") != nullptr) {
    testing::UnitTest::GetInstance()->listeners().Append(new FailsLate);
  }
  const bool drops = std::getenv("DROP") != nullptr;
  for (const char* const name : {"FILTER", "THEN"}) {
    if (const char* const filter = std::getenv(name)) {
      GTEST_FLAG_SET(filter, filter);
      const int result = gputest::run_all_tests();
      if (std::getenv("END") != nullptr) {
        _exit(drops ? 0 : result);
      }
      if ((result != 0 && std::getenv("IGNORE") == nullptr) || std::getenv("THEN") == nullptr) {
        return result;
      }
    }
  }
  if (std::getenv("THEN") != nullptr) {
    return 0;
  }
  if (std::getenv("BY_HAND") == nullptr) {
    const int result = gputest::run_all_tests();
    return drops ? 0 : result;
  }
  testing::UnitTest::GetInstance()->listeners().Append(new gputest::Listener);
  const int result = RUN_ALL_TESTS();
  return drops ? 0 : result;
}
