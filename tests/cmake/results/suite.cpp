// SPDX-License-Identifier: BSD-3-Clause
// Tests that end in all the ways in which a process can end.

#include <gputest/gputest.hpp>
#include <gputest/test_run.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include <signal.h>
#include <unistd.h>

namespace {

TEST(Passes, one) {}
TEST(Passes, two) {}
TEST(Fails, one) { FAIL() << "as it is meant to"; }
TEST(Skips, one) { GTEST_SKIP() << "of its own accord"; }
TEST(Bytes, all) {
  for (int byte = 0; byte < 9 * 256; ++byte) {
    std::putchar(byte % 256);
  }
  std::fflush(stdout);
}
TEST(Exits, zero) { std::exit(0); }
TEST(Exits, with_256) { std::exit(256); } // its parent sees 0
TEST(Exits, one) { std::exit(1); }
TEST(Exits, skipped) { std::exit(77); }
TEST(Exits, fails_before_a_handler) {
  std::atexit([] { _exit(0); });
  FAIL();
}
TEST(Exits, skipped_without_handlers) {
  ADD_FAILURE();
  _exit(77);
}
TEST(Exits, skipped_quickly) {
  ADD_FAILURE();
  std::quick_exit(77);
}
TEST(Exits, without_handlers) { _exit(0); }
TEST(Exits, after_a_report_of_its_end) {
  gputest::report_end(0);
  _exit(0);
}
TEST(Exits, in_a_child) {
  EXPECT_EXIT(std::exit(0), testing::ExitedWithCode(0), "");
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(std::exit(0), testing::ExitedWithCode(0), "");
}
TEST(Becomes, another_program) { execl("/bin/true", "true", nullptr); }
TEST(Dies, of_a_signal) { raise(SIGTERM); }
TEST(Disabled, DISABLED_one) {}
TEST(Prints, expected) {
  std::puts("as expected");
  FAIL() << "and a failure";
}
TEST(Prints, binary) { std::fwrite("\0\1\2\377\n", 1, 5, stdout); }
TEST(Prints, a_program) {
  std::puts("\x7f"
            "ELF \x7f\x7f \x7f");
  std::fflush(stdout);
  _exit(0);
}
TEST(Forks, and_leaves_a_child) {
  if (fork() == 0) {
    execl("/bin/sleep", "sleep", "100000", nullptr);
  }
}
TEST(Takes, more_than_its_lease) { const gputest::SimulatedBuffer data{gputest::parse_bytes("1GiB")}; }
class Declares : public gputest::SmallTest {};
TEST_F(Declares, memory) {}
TEST(Closes, standard_error) { ASSERT_NE(std::freopen("/dev/null", "w", stderr), nullptr); }
TEST(Closes, standard_output) { ASSERT_EQ(std::fclose(stdout), 0); }
bool breaks_at_end = false;
struct Global {
  ~Global() {
    if (breaks_at_end) {
      std::abort();
    }
  }
} global;
TEST(Breaks, at_end_and_skips) {
  breaks_at_end = true;
  GTEST_SKIP();
}
TEST(Leaves, a_leak) {
  // What a leak checker does after main() has returned.
  std::atexit([] { _exit(23); });
}

class SkippingEnvironment : public testing::Environment {
public:
  void SetUp() override {
    if (std::getenv("SKIP_ALL") != nullptr) {
      GTEST_SKIP() << "no test can run here";
    }
  }
};
const auto* const environment = testing::AddGlobalTestEnvironment(new SkippingEnvironment);

} // namespace
