// SPDX-License-Identifier: BSD-3-Clause
// Cases of an executable that a sanitizer checks, with gputest's loop of cases.

#include <gputest/gputest.hpp>
#include <gputest/simulated_buffer.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <thread>

#include <unistd.h>

namespace {

bool is_set_up = false;
struct Kept : testing::Environment {
  void SetUp() override { is_set_up = true; }
  void TearDown() override { is_set_up = false; }
};
const auto* const kept = testing::AddGlobalTestEnvironment(new Kept);

struct Sanitized : gputest::SmallTest {
  void SetUp() override {
    std::printf("@process %d %d\n", ::getpid(), ::getppid());
    EXPECT_TRUE(is_set_up);
  }
};
TEST_F(Sanitized, a) {}
TEST_F(Sanitized, takes_memory) { const gputest::SimulatedBuffer buffer{gputest::Bytes{1U << 20U}}; }
TEST_F(Sanitized, skips) { GTEST_SKIP(); }
TEST_F(Sanitized, has_a_thread) {
  std::thread{[] {}}.join();
}
TEST_F(Sanitized, leaks) {
  const int* volatile leaked = new int{1};
  EXPECT_EQ(*leaked, 1);
  leaked = nullptr;
}

} // namespace
