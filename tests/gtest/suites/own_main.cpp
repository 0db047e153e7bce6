// SPDX-License-Identifier: BSD-3-Clause
// A main() of one's own that installs gputest by its environment alone.

#include "stop_at.hpp"

#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

namespace {

class Medium : public gputest::MediumTest {};
TEST_F(Medium, stops) { stop_at("body"); }
TEST(NoFixture, stops) { stop_at("body"); }

} // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::AddGlobalTestEnvironment(new gputest::Environment);
  return RUN_ALL_TESTS();
}
