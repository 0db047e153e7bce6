// SPDX-License-Identifier: BSD-3-Clause
// What a person at a terminal sees; script(1) makes one.
#include "support/tool.hpp"

#include "support/suite_test.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <string>
#include <vector>

namespace gputest::tool {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* erase_line = "\r\x1b[K";

class Progress : public ::testing::Test {
protected:
  Progress() { tool_.set("TERM", "xterm"); }

  /// The tool on a terminal of its own, whose output is the program's.
  [[nodiscard]] tests::ChildProcess start_on_terminal(const std::string& arguments) const {
    return tool_.start_program(
        {"/usr/bin/script", "-qec", "exec " + tests::Tool::path() + " " + arguments, "/dev/null"});
  }

  tests::Tool tool_;
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

TEST_F(Progress, of_a_command_passes_no_signal_on_that_its_terminal_sends_to_both) {
  tool_.set("GPUTEST_ENTRY", "ctest");
  auto launcher = start_on_terminal(
      R"(run -- /bin/sh -c 'n=0; trap "n=\$((n+1)); echo once" INT; trap "kill \$!; exit \$n" USR1; sleep 60 & )"
      R"(echo "launcher $PPID"; while :; do wait; done')");
  launcher.wait_for_out("launcher ");
  const auto pid = std::stoi(launcher.read_line());
  launcher.say("\x03");
  launcher.wait_for_out("once");
  ::kill(pid, SIGUSR1); // the launcher passes it on, after what the terminal has sent
  EXPECT_EQ(launcher.finish().exit_code, 1) << "the signals that the command has had";
}

} // namespace
} // namespace gputest::tool
