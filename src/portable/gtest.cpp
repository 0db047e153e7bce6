// SPDX-License-Identifier: BSD-3-Clause
// The GoogleTest part for machines on which gputest leases nothing.
#include "gtest/known_needs.hpp"
#include "gtest/listing.hpp"

#include <gputest/gtest/fixtures.hpp>
#include <gputest/gtest/run_all_tests.hpp>
#include <gputest/outcome.hpp>
#include <gputest/test_list.hpp>
#include <gputest/test_run.hpp>

#include <cstdlib>

namespace gputest {

// A lease that is always had.
Lease::Lease(Lease&& /*other*/) noexcept {}
Lease& Lease::operator=(Lease&& /*other*/) noexcept { return *this; }
Lease::~Lease() = default;
Lease::operator bool() const { return true; }
const Outcome& Lease::outcome() const { return outcome_; }
void Lease::release() noexcept {}
Lease lease(const Request& /*request*/) { return {}; }

ClassTest::ClassTest(MemoryClass /*memory_class*/) {}
ScopedTest::ScopedTest() = default;
HostTest::HostTest() = default;

Environment::Environment() = default;
Listener::Listener() = default;
void Environment::SetUp() {}

int report_end(int exit_code) noexcept { return detail::TestRun::of_process().exit_code(exit_code); }

int run_all_tests() {
  auto& unit_test = *::testing::UnitTest::GetInstance();
  static const bool registered = [&] {
    detail::register_misnamed_annotations(unit_test);
    return true;
  }();
  static_cast<void>(registered);
  if (const auto file = test_list_file()) {
    return detail::list_tests(unit_test, *file);
  }
  if (RUN_ALL_TESTS() != 0) {
    return EXIT_FAILURE;
  }
  const int selected = unit_test.test_to_run_count();
  return report_end(selected > 0 && unit_test.skipped_test_count() == selected ? skipped_exit_code : EXIT_SUCCESS);
}

} // namespace gputest
