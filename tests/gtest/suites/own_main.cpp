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

TEST(Passes, always) {}
TEST(Fails, always) { FAIL() << "as it should"; }
int turn = 0;
TEST(Fails, once) { EXPECT_GT(++turn, 1); }

int run_by_hand() {
  testing::AddGlobalTestEnvironment(new gputest::Environment);
  testing::UnitTest::GetInstance()->listeners().Append(new gputest::Listener);
  return RUN_ALL_TESTS();
}

} // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const std::string_view how = argc > 1 ? argv[1] : "";
  if (how == "by_hand") {
    return run_by_hand();
  }
  if (how.substr(0, 5) == "drops") {
    static_cast<void>(how == "drops_by_hand" ? run_by_hand() : gputest::run_all_tests());
    return how == "drops_with_77" ? 77 : how == "drops_with_3" ? 3 : 0;
  }
  if (argc > 1 && std::string_view{argv[1]} == "environment") {
    testing::AddGlobalTestEnvironment(new gputest::Environment);
    return RUN_ALL_TESTS();
  }
  return gputest::run_all_tests();
}
