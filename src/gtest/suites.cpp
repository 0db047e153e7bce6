#include "gtest/suites.hpp"

#include <map>
#include <string>

namespace gputest::detail {

namespace {

std::map<std::string, SuiteFixture>& fixtures() {
  static std::map<std::string, SuiteFixture> by_suite;
  return by_suite;
}

} // namespace

SuiteFixture fixture_of(const ::testing::TestInfo& test) {
  const auto found = fixtures().find(test.test_suite_name());
  return found == fixtures().end() ? SuiteFixture{} : found->second;
}

void remember_fixture(const SuiteFixture& fixture) {
  fixtures()[::testing::UnitTest::GetInstance()->current_test_suite()->name()] = fixture;
}

} // namespace gputest::detail
