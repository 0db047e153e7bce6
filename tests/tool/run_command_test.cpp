// SPDX-License-Identifier: BSD-3-Clause
#include "support/tool.hpp"
#include "tool/exit_codes.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace gputest::tool {

namespace {

using Words = std::vector<std::string>;

int number(ExitCode code) { return to_int(code); }

Words run_with(Words options, const Words& command) {
  options.insert(options.begin(), "run");
  options.emplace_back("--");
  options.insert(options.end(), command.begin(), command.end());
  return options;
}

} // namespace

TEST(RunCommand, ends_with_the_exit_status_of_its_command) {
  const tests::Tool tool;
  for (const int status : {0, 1, 3, 77, 255}) {
    EXPECT_EQ(tool.run({"run", "--", "sh", "-c", "exit " + std::to_string(status)}).exit_code, status);
  }
  EXPECT_EQ(tool.run({"run", "--", "sh", "-c", "kill -TERM $$"}).signal, SIGTERM);
}

TEST(RunCommand, starts_a_command_that_uses_no_gpu_without_a_lease_or_a_file) {
  tests::Tool tool;
  tool.set("GPUTEST_DEVICES", "none");
  tool.set("GPUTEST_REQUIRE_GPU", "1");
  for (const Words& options : {Words{"--memory", "none"}, Words{"--gpus", "0"}}) {
    const auto ended =
        tool.run(run_with(options, {"sh", "-c", "echo $GPUTEST_MEMORY $PPID $GPUTEST_LEASE_OF; exit 77"}));
    EXPECT_EQ(ended.exit_code, 77) << ended.err;
    EXPECT_EQ(ended.out, "none " + std::to_string(::getpid()) + "\n") << "it replaces the tool";
  }
  EXPECT_TRUE(std::filesystem::is_empty(tool.folder().path()));
  for (const char* const option : {"--large=wait", "--requires=sm_80", "--wait-limit=1s", "--require-gpu", "--alone"}) {
    const auto refused = tool.run(run_with({"--memory", "none", option}, {"true"}));
    EXPECT_EQ(refused.exit_code, number(ExitCode::wrong_command_line));
    EXPECT_NE(refused.err.find("is for a command that uses a GPU, but the memory is none"), std::string::npos);
  }
  for (const auto& [options, message] :
       {std::pair{Words{"--memory", "3GiB", "--gpus", "0"}, "--memory 3GiB and --gpus 0 contradict each other"},
        {Words{"--memory", "none", "--gpus", "2"}, "--memory none and --gpus 2 contradict each other"},
        {Words{"--memory", ""}, "--memory '' is unknown; it is one of small, medium, large, or a size such as 3GiB. It "
                                "may also be auto or none"}}) {
    const auto refused = tool.run(run_with(options, {"true"}));
    EXPECT_EQ(refused.exit_code, number(ExitCode::wrong_command_line));
    EXPECT_NE(refused.err.find(message), std::string::npos) << refused.err;
  }
}

TEST(RunCommand, has_a_table_for_what_its_command_inherits_before_the_driver_starts_threads) {
  tests::Tool tool;
  tool.set("GPUTEST_DEVICES", "all");
  tool.set("LD_LIBRARY_PATH", GPUTEST_FAKE_DRIVER);
  tool.set("FAKE_NVML", "gpus=1 table=701");
  const auto ended = tool.run({"run", "--", "true"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

TEST(RunCommand, writes_to_the_run_log_how_its_command_ended_or_that_it_was_skipped) {
  tests::Tool tool;
  tool.set("GPUTEST_ENTRY", "ctest");
  const auto log_of = [&](const std::string& name, const Words& arguments) {
    const auto folder = tool.folder().path() + "/" + name;
    tool.set("GPUTEST_LOG", folder);
    static_cast<void>(tool.run(arguments));
    std::string text;
    std::error_code none;
    for (const auto& file : std::filesystem::directory_iterator{folder, none}) {
      std::ifstream log{file.path()};
      text.append(std::istreambuf_iterator<char>{log}, {});
    }
    return text;
  };
  const auto exited = log_of("exited", {"run", "--", "sh", "-c", "exit 3"});
  EXPECT_NE(exited.find(R"("event":"end","exit":3})"), std::string::npos) << exited;
  EXPECT_NE(exited.find(R"("event":"release")"), std::string::npos) << exited;
  const auto killed = log_of("killed", {"run", "--", "sh", "-c", "kill -TERM $$"});
  EXPECT_NE(killed.find(R"("event":"end","signal":15})"), std::string::npos) << killed;
  EXPECT_EQ(killed.find(R"("exit":)"), std::string::npos) << killed;
  const auto skipped = log_of("skipped", {"run", "--", "sh", "-c", "exit 77"});
  EXPECT_NE(skipped.find(R"("event":"end","exit":1})"), std::string::npos) << "gputest has not skipped it: " << skipped;
  tool.set("GPUTEST_TEST", "script");
  const auto too_large = log_of("too_large", {"run", "--memory", "100GiB", "--", "true"});
  EXPECT_NE(too_large.find(R"("entry":"script","event":"skip","reason":"script needs 100.5 GiB of a device)"),
            std::string::npos)
      << too_large;
  tool.set("GPUTEST_FORBID_SKIP", "1");
  const auto failed = log_of("failed", {"run", "--memory", "100GiB", "--", "true"});
  EXPECT_EQ(failed.find(R"("event":"skip")"), std::string::npos) << failed;
}

TEST(RunCommand, becomes_its_command_so_that_signals_reach_it) {
  const tests::Tool tool;
  auto running = tool.start(run_with({}, {"sh", "-c", "trap 'exit 42' TERM; echo pid $$; cat >/dev/null"}));
  running.wait_for_out("pid " + std::to_string(running.pid()) + "\n");
  running.kill(SIGTERM);
  EXPECT_EQ(running.finish().exit_code, 42);
}

TEST(RunCommand, waits_with_alone_until_no_other_process_is_on_its_device) {
  const tests::Tool tool;
  EXPECT_EQ(tool.start({"run", "--memory", "auto", "--alone", "--", "true"}).finish().exit_code, 0);
  auto other = tool.start({"run", "--memory", "1MiB", "--name", "other", "--", "sh", "-c", "echo ready; read line"});
  other.wait_for_out("ready\n");
  auto alone = tool.start({"run", "--memory", "1MiB", "--alone", "--", "sh", "-c", "echo begun; read line"});
  alone.wait_for_err("waits for a place on a GPU: other (pid " + std::to_string(other.pid()) + ", 1 MiB, for ");
  EXPECT_EQ(other.finish().exit_code, 1);
  alone.wait_for_out("begun\n");
  auto third = tool.start({"run", "--memory", "1MiB", "--", "true"});
  third.wait_for_err("waits for a place on a GPU: sh (pid " + std::to_string(alone.pid()) + ", 1 MiB alone, for ");
  static_cast<void>(alone.finish());
  EXPECT_EQ(third.finish().exit_code, 0);
}

TEST(RunCommand, stays_with_its_command_in_an_entry_and_passes_signals_on) {
  tests::Tool tool;
  tool.set("GPUTEST_ENTRY", "ctest");
  auto running = tool.start(run_with({}, {"sh", "-c", "trap 'echo caught; exit 42' TERM; echo ready; read line"}));
  running.wait_for_out("ready\n");
  running.kill(SIGTERM);
  running.wait_for_out("caught\n");
  EXPECT_EQ(running.finish().exit_code, 42);
  EXPECT_EQ(tool.run({"run", "--", "sh", "-c", "kill -TERM $$"}).signal, SIGTERM);
  EXPECT_EQ(tool.run({"run", "--", "sh", "-c", "exit 3"}).exit_code, 3);
}

TEST(RunCommand, takes_its_command_with_it_when_it_is_killed_in_an_entry) {
  tests::Tool tool;
  tool.set("GPUTEST_ENTRY", "ctest");
  auto running = tool.start(run_with({}, {"sh", "-c", "echo ready; read line"}));
  running.wait_for_out("ready\n");
  running.kill(SIGKILL);
  running.wait_for_end_of_streams(); // the command has its streams as long as it lives, and has no end of input
  EXPECT_EQ(running.finish().signal, SIGKILL);
}

TEST(RunCommand, keeps_the_time_limit_of_an_entry_to_itself) {
  tests::Tool tool;
  tool.set("GPUTEST_TIMEOUT", "100");
  const Words command{"run", "--", "sh", "-c", "echo ${GPUTEST_TIMEOUT-none}"};
  tool.set("GPUTEST_ENTRY", "ctest");
  EXPECT_EQ(tool.run(command).out.substr(0, 5), "none\n");
  tool.set("GPUTEST_TIMEOUT", "soon");
  EXPECT_EQ(tool.run(command).exit_code, number(ExitCode::unusable_setting));
}

TEST(RunCommand, ends_as_if_it_had_run_if_its_command_cannot_be_started_in_an_entry) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer's fork(), which it makes of each vfork(), hides the child's errno";
#endif
  tests::Tool tool;
  tool.folder().write("script", "#!/no/such/interpreter\n", 0755);
  const Words command{"run", "--", tool.folder().path() + "/script"};
  tool.set("GPUTEST_ENTRY", "ctest");
  const auto ended = tool.run(command);
  EXPECT_EQ(ended.exit_code, number(ExitCode::not_found));
  EXPECT_NE(ended.err.find("/script': there is no such file, or the interpreter it names is missing\n"),
            std::string::npos)
      << ended.err;
  tool.set("GPUTEST_ENTRY", "will_fail");
  EXPECT_EQ(tool.run(command).signal, SIGKILL);
}

TEST(RunCommand, tells_the_launcher_of_the_entry_what_it_did_not_run_whatever_a_script_makes_of_that) {
  tests::Tool tool;
  tool.set("GPUTEST_ENTRY", "ctest");
  const auto run_in_script = [&](const std::string& variables, const std::string& arguments) {
    return tool.run(
        {"run", "--", "sh", "-c", variables + " '" + tests::Tool::path() + "' run " + arguments + "; true"});
  };
  EXPECT_EQ(run_in_script("", "-- true").exit_code, 0);
  EXPECT_EQ(run_in_script("", "--requires tcc -- true").exit_code, 77);
  const auto missing = run_in_script("", "-- no-such-command-here");
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_NE(missing.err.find("gputest: failed: gputest has failed a test, although the command ended with 0: 'gputest "
                             "run' did not run no-such-command-here\n"),
            std::string::npos)
      << missing.err;
  const auto unusable = run_in_script("GPUTEST_GPUS=two", "-- true");
  EXPECT_EQ(unusable.exit_code, 1);
  EXPECT_NE(unusable.err.find("although the command ended with 0: GPUTEST_GPUS 'two' is not"), std::string::npos)
      << unusable.err;
  EXPECT_EQ(run_in_script("", "--if-gpu -- no-such-command-here").exit_code, 1);
  tool.set("GPUTEST_ENTRY", "will_fail");
  EXPECT_EQ(run_in_script("", "-- no-such-command-here").signal, SIGKILL) << "this is not the failure that is expected";
}

TEST(RunCommand, says_that_it_does_not_count_a_time_limit_for_a_command_that_it_becomes) {
  tests::Tool tool;
  tool.set("GPUTEST_TIMEOUT", "2.5");
  const auto ended = tool.run({"run", "--", "true"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_NE(ended.err.find("gputest: GPUTEST_TIMEOUT=2.5 is not a limit for true: it counts in CTest's entries only. "
                           "Elsewhere: gputest run -- timeout 2.5 true\n"),
            std::string::npos)
      << ended.err;
  EXPECT_EQ(tests::Tool{}.run({"run", "--", "true"}).err.find("GPUTEST_TIMEOUT"), std::string::npos);
}

TEST(RunCommand, fails_with_127_or_126_before_it_asks_for_a_gpu) {
  tests::Tool tool;
  tool.folder().write("data", "", 0644);
  tool.set("GPUTEST_DEVICES", "none");
  const auto missing = tool.run({"run", "--", "no-such-command-here"});
  EXPECT_EQ(missing.exit_code, number(ExitCode::not_found));
  EXPECT_NE(missing.err.find("'no-such-command-here'"), std::string::npos) << missing.err;
  EXPECT_EQ(tool.run({"run", "--", tool.folder().path() + "/data"}).exit_code, number(ExitCode::cannot_execute));
  EXPECT_EQ(tool.run({"run", "--", tool.folder().path()}).exit_code, number(ExitCode::cannot_execute));
}

TEST(RunCommand, skips_with_77_where_there_is_no_gpu_and_fails_with_69_where_one_is_required) {
  tests::Tool tool;
  tool.set("GPUTEST_DEVICES", "none");
  const auto skipped = tool.run({"run", "--", "echo", "ran"});
  EXPECT_EQ(skipped.exit_code, number(ExitCode::skipped));
  EXPECT_EQ(skipped.out, "");
  EXPECT_NE(skipped.err.find("GPUTEST_DEVICES=none"), std::string::npos) << skipped.err;
  const auto by_option = tool.run({"run", "--require-gpu", "--", "echo", "ran"});
  EXPECT_EQ(by_option.exit_code, number(ExitCode::no_gpu));
  EXPECT_EQ(by_option.out, "");
  EXPECT_EQ(by_option.err.find("gputest: failed: "), 0U) << by_option.err;
  tool.set("GPUTEST_REQUIRE_GPU", "1");
  EXPECT_EQ(tool.run({"run", "--", "true"}).exit_code, number(ExitCode::no_gpu));
}

TEST(RunCommand, skips_what_no_device_can_ever_hold) {
  const tests::Tool tool;
  const auto ended = tool.run({"run", "--memory", "32GiB", "--", "echo", "ran"});
  EXPECT_EQ(ended.exit_code, number(ExitCode::skipped)) << ended.err;
  EXPECT_EQ(ended.out, "");
  EXPECT_NE(ended.err.find("32.5 GiB"), std::string::npos) << ended.err; // with the context
  EXPECT_NE(ended.err.find("16 GiB"), std::string::npos) << ended.err;
}

TEST(RunCommand, counts_the_device_heap_that_its_command_is_to_set) {
  tests::Tool tool;
  tool.set("GPUTEST_DEVICES", "simulated:1x4GiB,context=0");
  EXPECT_EQ(tool.run(run_with({"--memory", "3.8GiB"}, {"true"})).exit_code, 0);
  tool.set("GPUTEST_HEAP", "256MiB");
  EXPECT_EQ(tool.run(run_with({"--memory", "3.8GiB"}, {"true"})).exit_code, number(ExitCode::skipped));
  EXPECT_EQ(tool.run(run_with({"--memory", "3.5GiB"}, {"true"})).exit_code, 0);
}

TEST(RunCommand, skips_a_large_test_beside_others_unless_it_shall_wait) {
  tests::Tool tool;
  tool.set("GPUTEST_RUN_MODE", "parallel");
  const auto excluded = tool.run({"run", "--memory", "large", "--name", "big_one", "--", "echo", "ran"});
  EXPECT_EQ(excluded.exit_code, number(ExitCode::skipped)) << excluded.err;
  EXPECT_EQ(excluded.out, "");
  EXPECT_NE(excluded.err.find("big_one"), std::string::npos) << excluded.err;
  const auto waited = tool.run({"run", "--memory", "large", "--large", "wait", "--", "echo", "ran"});
  EXPECT_EQ(waited.exit_code, 0) << waited.err;
  EXPECT_EQ(waited.out, "ran\n");
}

TEST(RunCommand, fails_with_70_where_the_ledger_cannot_be_used) {
  tests::Tool tool;
  tool.folder().write("file", "", 0644);
  tool.set("GPUTEST_DIR", tool.folder().path() + "/file/ledger");
  const auto ended = tool.run({"run", "--", "echo", "ran"});
  EXPECT_EQ(ended.exit_code, number(ExitCode::internal_error)) << ended.err;
  EXPECT_EQ(ended.out, "");
  EXPECT_NE(ended.err.find(tool.folder().path() + "/file"), std::string::npos) << ended.err;
}

TEST(RunCommand, shows_its_command_as_many_devices_as_it_asked_for_by_uuid) {
  tests::Tool tool;
  tool.set("GPUTEST_DEVICES", "simulated:3x16GiB");
  const auto one = tool.run({"run", "--", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES"}).out;
  EXPECT_EQ(one.find("SIM-"), 0U) << one;
  EXPECT_EQ(one.find(','), std::string::npos) << one;
  const auto two = tool.run({"run", "--gpus", "2", "--", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES"}).out;
  const auto comma = two.find(',');
  ASSERT_NE(comma, std::string::npos) << two;
  EXPECT_EQ(two.find("SIM-", comma), comma + 1) << two;
  EXPECT_NE(two.substr(0, comma) + "\n", two.substr(comma + 1));
}

TEST(RunCommand, runs_a_second_one_inside_itself_under_its_own_lease) {
  const tests::Tool tool;
  const auto ended =
      tool.run(run_with({"--memory", "12GiB", "--wait-limit", "0s"}, {tests::Tool::path(), "run", "--memory", "12GiB",
                                                                      "--wait-limit", "0s", "--", "echo", "inside"}));
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.out, "inside\n");
}

TEST(RunCommand, keeps_its_place_until_the_last_process_that_its_command_left_behind_has_ended) {
  const tests::Tool tool;
  auto holder = tool.start(
      run_with({"--memory", "12GiB"}, {"sh", "-c", "exec 3<&0; (read line <&3) >/dev/null 2>&1 & echo left"}));
  // Its streams end with the shell, its input is still open.
  holder.wait_for_out("left");
  holder.wait_for_end_of_streams();
  const auto meanwhile = tool.run({"run", "--memory", "12GiB", "--wait-limit", "0s", "--", "true"});
  EXPECT_EQ(meanwhile.exit_code, number(ExitCode::wait_limit)) << meanwhile.err;
  EXPECT_EQ(holder.finish().exit_code, 0);
  const auto afterwards = tool.run({"run", "--memory", "12GiB", "--", "true"});
  EXPECT_EQ(afterwards.exit_code, 0) << afterwards.err;
}

TEST(RunCommand, keeps_its_place_if_its_command_opens_descriptors_by_numbers_of_its_own) {
  const tests::Tool tool;
  // As `exec 9>lock` in a script does: whatever had the number before is closed.
  auto holder = tool.start(run_with({"--memory", "12GiB"}, {"bash", "-c",
                                                            "for n in {3..9} {10..255}; do eval \"exec $n</dev/null\"; "
                                                            "done; echo open; read -r line; exit 0"}));
  holder.wait_for_out("open");
  const auto meanwhile = tool.run({"run", "--memory", "12GiB", "--wait-limit", "0s", "--", "true"});
  EXPECT_EQ(meanwhile.exit_code, number(ExitCode::wait_limit)) << meanwhile.err;
  EXPECT_EQ(holder.finish().exit_code, 0);
}

TEST(RunCommand, runs_under_the_lease_above_it_where_something_has_cleared_the_environment) {
  const tests::Tool tool;
  const std::string tmp = tool.folder().path();
  const std::string inner = "env -i PATH=\"$PATH\" GPUTEST_DEVICES=\"$GPUTEST_DEVICES\" GPUTEST_DIR=\"$GPUTEST_DIR\" " +
                            tests::Tool::path() + " run --wait-limit 0s --memory ";
  struct Case {
    const char* what;
    std::string command;
    bool passes;
  };
  const std::vector<Case> cases{
      {"in its place", "exec " + inner + "9GiB -- true", true},
      {"more than the lease", "exec " + inner + "11GiB -- true", false},
      {"some generations below, in a session of its own",
       "setsid -w sh -c '" + inner + "9GiB -- true; exit $?'; exit $?", true},
      {"after the process between has ended",
       "mkfifo " + tmp + "/said; (sh -c 'read -r line <" + tmp + "/said; " + inner + "9GiB -- true; echo $? >" + tmp +
           "/said' &); echo go >" + tmp + "/said; read -r result <" + tmp + "/said; exit $result",
       true},
  };
  for (const auto& c : cases) {
    const auto ended = tool.run({"run", "--memory", "10GiB", "--", "sh", "-c", c.command});
    EXPECT_EQ(ended.exit_code == 0, c.passes) << c.what << ": " << ended.err;
  }
  auto beside = tool.start(run_with({"--memory", "10GiB"}, {"sh", "-c", "echo here; read -r line; exit 0"}));
  beside.wait_for_out("here");
  EXPECT_EQ(tool.run({"run", "--memory", "9GiB", "--wait-limit", "0s", "--", "true"}).exit_code,
            number(ExitCode::wait_limit));
}

TEST(RunCommand, leaves_nothing_behind_when_it_is_killed) {
  const tests::Tool tool;
  auto holder = tool.start(run_with({"--memory", "12GiB"}, {"sh", "-c", "echo here; exec sleep 1000"}));
  holder.wait_for_out("here");
  holder.kill(SIGKILL);
  EXPECT_EQ(holder.finish().signal, SIGKILL);
  const auto ended = tool.run({"run", "--memory", "12GiB", "--", "true"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

TEST(RunCommand, passes_no_signal_on_that_a_terminal_sends_to_its_command_too) {
  tests::Tool tool;
  tool.set("GPUTEST_ENTRY", "ctest");
  const std::string command =
      R"( run -- /bin/sh -c 'n=0; trap "n=\$((n+1)); echo once" INT; trap "kill \$!; exit \$n" USR1; sleep 60 & )"
      R"(echo "launcher $PPID"; while :; do wait; done')";
  auto launcher = tool.start_program({"/usr/bin/script", "-qec", "exec " + tests::Tool::path() + command, "/dev/null"});
  launcher.wait_for_out("launcher ");
  const auto pid = std::stoi(launcher.read_line());
  launcher.say("\x03");
  launcher.wait_for_out("once");
  ::kill(pid, SIGUSR1); // the launcher passes it on, after what the terminal has sent
  EXPECT_EQ(launcher.finish().exit_code, 1) << "the signals that the command has had";
}

} // namespace gputest::tool
