// SPDX-License-Identifier: BSD-3-Clause
// A main() of one's own that installs gputest by its environment alone, or takes any result but 0 for a failure.

#include "stop_at.hpp"

#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

#include <cstdlib>

namespace {

class Medium : public gputest::MediumTest {};
TEST_F(Medium, stops) { stop_at("body"); }
TEST(NoFixture, stops) { stop_at("body"); }

} // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (std::getenv("KNOWS_ONE_FAILURE") != nullptr) { // NOLINT(concurrency-mt-unsafe)
    return gputest::run_all_tests() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  testing::AddGlobalTestEnvironment(new gputest::Environment);
  return RUN_ALL_TESTS();
}
