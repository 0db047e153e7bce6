// SPDX-License-Identifier: BSD-3-Clause
// Says which devices are visible wherever user code runs, and starts itself from a test.

#include "stop_at.hpp"

#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

namespace {

void say_what_is_visible(const char* where) {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const char* const allocated = std::getenv("CTEST_RESOURCE_GROUP_0_GPUS");
  std::cout << where << " sees " << (visible == nullptr ? "everything" : visible)
            << (allocated == nullptr ? std::string{} : std::string{", "} + allocated + " of it") << std::endl;
}

class EarlyEnvironment : public testing::Environment {
public:
  void SetUp() override { say_what_is_visible("the environment"); }
};

// Registered before main(), so before gputest's own.
const auto* const registered = testing::AddGlobalTestEnvironment(new EarlyEnvironment);

class Visible : public gputest::SmallTest {
protected:
  static void SetUpTestSuite() { say_what_is_visible("the suite"); }
};

TEST_F(Visible, is_said) {
  say_what_is_visible("the test");
  std::string devices;
  for (const auto& device : gputest::current_devices()) {
    devices += " " + device.uuid;
  }
  std::cout << "current_devices() are" << devices << std::endl;
  stop_at("body");
}

// Only its constructor shows which of gputest's fixtures it is.
class HidingBothScoped : public gputest::ScopedTest {
protected:
  static void SetUpTestSuite() {}
  static void TearDownTestSuite() {}
};
TEST_F(HidingBothScoped, first) { stop_at("body"); }
TEST_F(HidingBothScoped, second) { stop_at("body"); }

class Starting : public gputest::MediumTest {};
TEST_F(Starting, a_test_that_fits_its_lease) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  EXPECT_EQ(std::system((self + " --gtest_filter=Started.needs_the_medium_lock").c_str()), 0);
}

class Started : public gputest::MediumTest {};
TEST_F(Started, needs_the_medium_lock) { say_what_is_visible("the started test"); }

} // namespace
