// SPDX-License-Identifier: BSD-3-Clause
// A main() of one's own: the one call, or the environment and the listener by hand.

#include "stop_at.hpp"

#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

#include <string_view>

namespace {

class Medium : public gputest::MediumTest {};
TEST_F(Medium, stops) { stop_at("body"); }
TEST(NoFixture, stops) { stop_at("body"); }

} // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1 && std::string_view{argv[1]} == "by_hand") {
    testing::AddGlobalTestEnvironment(new gputest::Environment);
    testing::UnitTest::GetInstance()->listeners().Append(new gputest::Listener);
    return RUN_ALL_TESTS();
  }
  return gputest::run_all_tests();
}
