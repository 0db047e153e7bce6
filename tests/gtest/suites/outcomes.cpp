// SPDX-License-Identifier: BSD-3-Clause
// Tests that pass, skip and fail; linked with gputest and, to compare, without it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <string>
#include <thread>

#include <unistd.h>

#include <sys/wait.h>
#include <unistd.h>

namespace {

/// Blocks until another thread keeps the lock of standard input, as one does that reads from it.
void keep_standard_input() {
  alarm(100); // a process that waits for this lock ends by a signal
  std::promise<void> kept;
  std::thread{[&] {
    flockfile(stdin);
    kept.set_value();
    for (;;) {
      pause();
    }
  }}.detach();
  kept.get_future().wait();
}

TEST(Passing, first) {
  if (std::getenv("KEEP_STDIN") != nullptr) {
    keep_standard_input();
  }
  if (const char* const status = std::getenv("EXIT_WITH")) {
    std::exit(std::atoi(status));
  }
}
TEST(Passing, second) {
  if (std::getenv("FORK") != nullptr) { // the child goes on by itself
    const pid_t child = fork();
    ASSERT_TRUE(child == 0 || waitpid(child, nullptr, 0) == child);
  }
  if (std::getenv("FORK_AND_EXIT") != nullptr) {
    const pid_t child = fork();
    if (child == 0) {
      std::exit(0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
}
TEST(Passing, third) {}
TEST(Passing, DISABLED_fourth) {}

TEST(Skipping, first) { GTEST_SKIP() << "of its own accord"; }
TEST(Skipping, second) { GTEST_SKIP() << "of its own accord"; }

TEST(Failing, fails) { FAIL() << "as it should"; }
TEST(Failing, throws) { throw 1; }

int turn = 0;
TEST(Changing, skips_from_the_second_repeat_on) {
  if (++turn > 1) {
    GTEST_SKIP() << "the second time";
  }
}

class Numbered : public testing::TestWithParam<int> {};
TEST_P(Numbered, passes) { EXPECT_GE(GetParam(), 0); }
INSTANTIATE_TEST_SUITE_P(All, Numbered, testing::Range(0, 8));

bool fails_in(const char* place) {
  const char* const where = std::getenv("FAIL_IN");
  return where != nullptr && std::string{where} == place;
}

class OddEnvironment : public testing::Environment {
public:
  void SetUp() override {
    if (std::getenv("SKIP_ALL") != nullptr) {
      GTEST_SKIP() << "no test can run here";
    }
    if (fails_in("SetUp")) {
      FAIL() << "as it should";
    }
  }
  void TearDown() override {
    if (fails_in("TearDown")) {
      FAIL() << "as it should";
    }
  }
};
const auto* const environment = testing::AddGlobalTestEnvironment(new OddEnvironment);

} // namespace
