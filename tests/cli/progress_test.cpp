// SPDX-License-Identifier: BSD-3-Clause
// What a person at a terminal sees; script(1) makes one.
#include "tool.hpp"

#include "support/suite_test.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace gputest::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* erase_line = "\r\x1b[K";

class Progress : public ::testing::Test {
protected:
  Progress() { tool_.set("TERM", "xterm"); }

  /// The tool on a terminal of its own, whose output is the program's.
  [[nodiscard]] tests::ChildProcess start_on_terminal(const std::string& arguments) const {
    return tool_.start_program({"/usr/bin/script", "-qec", "exec " + Tool::path() + " " + arguments, "/dev/null"});
  }

  Tool tool_;
};

TEST_F(Progress, of_a_wait_is_one_line_that_is_written_anew_and_is_gone_afterwards) {
  auto holder = tool_.start_holder({"--memory", "10GiB"});
  auto waiting = start_on_terminal("run --memory 10GiB -- /bin/echo started");
  waiting.wait_for_out(std::string{erase_line} + "gputest: 2 s: echo waits for 10 GiB: ");
  waiting.wait_for_out(erase_line);
  static_cast<void>(holder.finish());
  const auto ended = waiting.finish();
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_THAT(ended.out, HasSubstr(std::string{erase_line} + "gputest: admitted echo: 10 GiB"));
}

TEST_F(Progress, is_not_written_to_a_file) {
  auto holder = tool_.start_holder({"--memory", "10GiB"});
  auto waiting = tool_.start({"run", "--memory", "10GiB", "--wait-limit", "3s", "--", "/bin/true"});
  const auto ended = waiting.finish();
  EXPECT_EQ(tests::count(ended.err, " waits for 10 GiB"), 1U) << ended.err;
  EXPECT_THAT(ended.err, Not(HasSubstr("\x1b")));
}

TEST_F(Progress, of_the_status_is_a_screen_of_its_own_that_ends_with_a_signal) {
  auto holder = tool_.start_holder({"--memory", "10GiB", "--name", "solver"});
  auto watching = start_on_terminal("status --watch");
  watching.wait_for_out("\x1b[?1049h");
  watching.wait_for_out("solver");
  watching.wait_for_out("\x1b[H"); // the second time
  watching.say("\x03");            // Ctrl-C
  const auto ended = watching.finish();
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_THAT(ended.out, HasSubstr("\x1b[?25h\x1b[?1049l"));
}

TEST_F(Progress, of_the_status_needs_a_terminal) {
  const auto ended = tool_.run({"status", "--watch"});
  EXPECT_NE(ended.exit_code, 0);
  EXPECT_EQ(ended.err, "gputest: standard output is no terminal that can be written anew\n");
}

} // namespace
} // namespace gputest::cli
