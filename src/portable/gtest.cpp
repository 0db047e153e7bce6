// SPDX-License-Identifier: BSD-3-Clause
// What the GoogleTest part needs of the core, and its fixtures, for machines on which gputest leases nothing.
#include "core/settings/settings.hpp"
#include "gtest/known_needs.hpp"
#include "gtest/listing.hpp"

#include <gputest/device.hpp>
#include <gputest/gtest/fixtures.hpp>
#include <gputest/gtest/run_all_tests.hpp>
#include <gputest/outcome.hpp>
#include <gputest/test_list.hpp>
#include <gputest/test_run.hpp>

#include <cstdlib>
#include <iostream>

namespace gputest {

namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name); // NOLINT(concurrency-mt-unsafe): before any thread
  return value == nullptr ? "" : value;
}

} // namespace

std::optional<std::string> settings::test_list_file() {
  auto file = variable("GPUTEST_LIST_FILE");
  return file.empty() ? std::nullopt : std::optional{std::move(file)};
}

Entry entry_from_environment() {
  Entry entry;
  auto memory = variable("GPUTEST_MEMORY");
  if (memory.rfind("auto", 0) == 0) { // or `auto alone`: nothing is measured here
    memory.replace(0, 4, "small");
  }
  const auto gpus = variable("GPUTEST_GPUS");
  entry.no_gpu = memory == "none" || (memory.empty() && gpus == "0");
  if (!entry.no_gpu) {
    entry.request = parse_request(memory.empty() ? "small" : memory, "GPUTEST_MEMORY");
    entry.request.gpus = gpus.empty() ? 1 : std::atoi(gpus.c_str()); // NOLINT(cert-err34-c): CMake has checked it
  }
  return entry;
}

const std::vector<Device>& current_devices() {
  static const std::vector<Device> none;
  return none;
}

namespace detail {

struct TestRun::State {};
TestRun::TestRun() = default;

TestRun& TestRun::of_process() {
  static TestRun run;
  return run;
}

bool TestRun::no_gpu() const { return entry_from_environment().no_gpu; }

} // namespace detail

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

void Environment::SetUp() {}

void Listener::OnTestProgramStart(const ::testing::UnitTest& /*unit_test*/) {}
void Listener::OnEnvironmentsSetUpEnd(const ::testing::UnitTest& /*unit_test*/) {}
void Listener::OnTestSuiteStart(const ::testing::TestSuite& /*suite*/) {}
void Listener::OnTestStart(const ::testing::TestInfo& /*test*/) {}
void Listener::OnTestPartResult(const ::testing::TestPartResult& /*result*/) {}
void Listener::OnTestEnd(const ::testing::TestInfo& /*test*/) {}
void Listener::OnTestSuiteEnd(const ::testing::TestSuite& /*suite*/) {}
void Listener::OnTestIterationEnd(const ::testing::UnitTest& /*unit_test*/, int /*iteration*/) {}
void Listener::OnTestProgramEnd(const ::testing::UnitTest& /*unit_test*/) {}

int report_end(int exit_code) noexcept { return exit_code; }

int run_all_tests() {
  auto& unit_test = *::testing::UnitTest::GetInstance();
  if (const auto file = test_list_file()) {
    return detail::list_tests(unit_test, *file);
  }
  const auto misnamed = detail::misnamed_annotations(unit_test);
  for (const auto& annotation : misnamed) {
    std::cerr << annotation.file << ':' << annotation.line << ": " << annotation.text << '\n';
  }
  const int result = RUN_ALL_TESTS();
  if (result != 0 || !misnamed.empty()) {
    return EXIT_FAILURE;
  }
  const int selected = unit_test.test_to_run_count();
  return selected > 0 && unit_test.skipped_test_count() == selected ? skipped_exit_code : EXIT_SUCCESS;
}

} // namespace gputest
