// SPDX-License-Identifier: BSD-3-Clause
#include "support/in_child.hpp"
#include "support/tool.hpp"
#include "tool/exit_codes.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <filesystem>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::tool {

namespace {

nlohmann::json status_of(const tests::Tool& tool) { return tool.report_of("status"); }

} // namespace

TEST(StatusCommand, says_nobody_and_makes_nothing_where_nobody_has_been) {
  const tests::Tool tool;
  const auto ended = tool.run({"status"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out, "no processes on the ledger (none has used " + tool.ledger() + " yet)\n");
  EXPECT_FALSE(status_of(tool)["exists"].get<bool>());
  EXPECT_FALSE(std::filesystem::exists(tool.ledger()));
}

TEST(StatusCommand, shows_holders_and_waiting_processes_and_then_nobody) {
  const tests::Tool tool;
  auto holder = tool.start_holder({"--memory", "12GiB", "--name", "first"});

  auto status = status_of(tool);
  ASSERT_EQ(status["processes"].size(), 1U) << status;
  auto first = status["processes"][0];
  EXPECT_EQ(first["who"], "first");
  EXPECT_EQ(first["pid"], holder.pid());
  EXPECT_EQ(first["uid"], ::getuid());
  EXPECT_EQ(first["claim"], "lease");
  EXPECT_EQ(first["memory_bytes"], 12ULL << 30U);
  EXPECT_EQ(first["context_bytes"], 512ULL << 20U);
  EXPECT_EQ(first["device_uuids"].size(), 1U);
  EXPECT_LE(first["since_unix_ms"], status["now_unix_ms"]);

  auto waiter = tool.start({"run", "--memory", "12GiB", "--name", "second", "--", "true"});
  waiter.wait_for_err("first"); // it says whom it waits for
  status = status_of(tool);
  ASSERT_EQ(status["processes"].size(), 2U) << status;
  first.erase("for_ms");
  status["processes"][0].erase("for_ms");
  EXPECT_EQ(status["processes"][0], first) << "what the holder shows must not depend on who waits";
  EXPECT_EQ(status["processes"][1]["who"], "second");
  EXPECT_EQ(status["processes"][1]["claim"].get<std::string>().find("waiting_"), 0U) << status;
  EXPECT_EQ(status["processes"][1]["pid"], waiter.pid());
  const auto text = tool.run({"status"}).out;
  EXPECT_NE(text.find("first"), std::string::npos) << text;
  EXPECT_LT(text.find("first"), text.find("second")) << text;

  EXPECT_EQ(holder.finish().exit_code, 0);
  EXPECT_EQ(waiter.finish().exit_code, 0);
  EXPECT_EQ(tool.run({"status"}).out,
            "no processes on the ledger\nledger: " + tool.ledger() + " (private to one user)\n");
  EXPECT_TRUE(status_of(tool)["processes"].empty());
}

TEST(StatusCommand, shows_stopped_processes_and_claims_kept_by_a_child) {
  const tests::Tool tool;
  auto holder = tool.start_holder({"--memory", "12GiB"});
  EXPECT_EQ(status_of(tool)["processes"][0]["owner"], "running");
  holder.kill(SIGSTOP);
  int status = 0;
  ASSERT_EQ(::waitpid(holder.pid(), &status, WUNTRACED), holder.pid());
  EXPECT_EQ(status_of(tool)["processes"][0]["owner"], "stopped");
  auto waiter = tool.start({"run", "--memory", "12GiB", "--", "true"});
  waiter.wait_for_err("; it is stopped, kill -CONT lets it go on)");
  holder.kill(SIGCONT);
  EXPECT_EQ(holder.finish().exit_code, 0);
  EXPECT_EQ(waiter.finish().exit_code, 0);

  auto parent =
      tool.start({"run", "--memory", "12GiB", "--", "sh", "-c", "exec 9<&0; { echo here; cat <&9 >/dev/null; } &"});
  parent.wait_for_out("here");
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(parent.pid()), nullptr, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(status_of(tool)["processes"][0]["owner"], "children");
  EXPECT_EQ(status_of(tool)["processes"][0]["claim"], "lease");
  EXPECT_EQ(parent.finish().exit_code, 0);
}

TEST(StatusCommand, needs_no_mutex_and_names_the_process_that_keeps_it) {
  const tests::Tool tool;
  auto holder = tool.start_holder({"--memory", "12GiB", "--name", "first"});
  // Of the ledger, and of the simulated devices: a child that has locked each file that is called mutex.
  const pid_t keeper = tests::start_child([&] {
    for (const auto& file : std::filesystem::recursive_directory_iterator{tool.ledger()}) {
      struct flock whole {};
      whole.l_type = F_WRLCK;
      if (file.path().filename() == "mutex" &&
          ::fcntl(::open(file.path().c_str(), O_RDWR | O_CLOEXEC), F_SETLK, &whole) != 0) {
        return 1;
      }
    }
    ::raise(SIGSTOP);
    return 0;
  });
  int status = 0;
  ASSERT_EQ(::waitpid(keeper, &status, WUNTRACED), keeper);
  const auto ended = tool.run({"status", "--json"});
  const auto devices = tool.run({"devices", "--json"});
  ::kill(keeper, SIGKILL);
  EXPECT_EQ(tests::end_of(keeper), -SIGKILL);
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const auto seen = nlohmann::json::parse(ended.out);
  ASSERT_EQ(seen["processes"].size(), 1U) << seen;
  EXPECT_EQ(seen["processes"][0]["who"], "first");
  const auto caveat = seen["caveat"].get<std::string>();
  EXPECT_EQ(caveat.find("the ledger's mutex is locked all the time, so that no test gets memory or gives it back: "
                        "process " +
                        std::to_string(keeper) + " ("),
            0U)
      << caveat;
  EXPECT_NE(caveat.find("kill -CONT " + std::to_string(keeper)), std::string::npos) << caveat;
  ASSERT_EQ(devices.exit_code, 0) << devices.err;
  EXPECT_EQ(nlohmann::json::parse(devices.out)["devices"][0]["ledger_processes"], 1);
  EXPECT_EQ(status_of(tool)["caveat"], "");
}

TEST(StatusCommand, names_no_process_that_has_exited_for_a_device_that_is_not_visible) {
  tests::Tool tool;
  auto killed = tool.start({"run", "--memory", "12GiB", "--", "sh", "-c", "kill -9 $$"});
  static_cast<void>(killed.finish());
  tool.set("GPUTEST_DEVICES", "simulated:1x8GiB");
  EXPECT_TRUE(status_of(tool)["processes"].empty()) << status_of(tool);
}

TEST(StatusCommand, fails_with_70_where_the_folder_cannot_be_looked_into) {
  tests::Tool tool;
  tool.set("GPUTEST_DIR", tool.folder().path() + "/" + std::string(300, 'x')); // a name that no file can have
  EXPECT_EQ(tool.run({"status"}).exit_code, to_int(ExitCode::internal_error));
}

} // namespace gputest::tool
