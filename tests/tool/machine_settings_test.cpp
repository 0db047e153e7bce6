// SPDX-License-Identifier: BSD-3-Clause
// Settings of a whole run, as the tool obeys them: which skips are failures, and names that are no settings.

#include "support/tool.hpp"
#include "tool/exit_codes.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

namespace gputest::tool {

namespace {

using testing::HasSubstr;
using Words = std::vector<std::string>;

tests::Ended run(const tests::Tool& tool, Words options) {
  options.insert(options.begin(), "run");
  options.insert(options.end(), {"--", "true"});
  return tool.run(options);
}

} // namespace

TEST(ForbidSkip, of_the_machine_fails_what_the_machine_cannot_run_and_skips_what_the_run_leaves_out) {
  const Words too_large{"--memory", "32GiB"};
  const Words too_many{"--gpus", "2"};
  const Words not_capable{"--requires", "tcc"};
  const Words beside_others{"--memory", "large"};
  const int skipped = to_int(ExitCode::skipped);
  const int failed = to_int(ExitCode::no_gpu);
  struct Row {
    const char* forbidden;
    const char* devices;
    Words options;
    int expected;
  };
  const std::vector<Row> rows{
      {"", "none", {}, skipped},
      {"", "simulated:1x16GiB", too_large, skipped},
      {"machine", "none", {}, failed},
      {"machine", "simulated:1x16GiB,lost", {}, failed},
      {"machine", "simulated:1x16GiB", too_large, failed},
      {"machine", "simulated:1x16GiB", too_many, failed},
      {"machine", "simulated:1x16GiB", not_capable, failed},
      {"machine", "simulated:1x16GiB", beside_others, skipped},
      {"machine", "simulated:1x16GiB", {}, 0},
      {"1", "simulated:1x16GiB", beside_others, failed},
  };
  for (const auto& row : rows) {
    tests::Tool tool;
    tool.set("GPUTEST_RUN_MODE", "parallel");
    tool.set("GPUTEST_FORBID_SKIP", row.forbidden);
    tool.set("GPUTEST_DEVICES", row.devices);
    const auto ended = run(tool, row.options);
    EXPECT_EQ(ended.exit_code, row.expected)
        << row.forbidden << " " << row.devices << testing::PrintToString(row.options);
    if (row.expected == failed && row.devices == std::string{"simulated:1x16GiB"}) {
      EXPECT_THAT(ended.err,
                  HasSubstr(std::string{"(GPUTEST_FORBID_SKIP="} + row.forbidden + " makes this skip a failure)"));
    }
  }
}

TEST(VariableNames, that_are_mistyped_fail_every_command_but_help) {
  tests::Tool tool;
  tool.set("GPUTEST_REQUIRE_GPUS", "1");
  for (const Words& command : {Words{"run", "--", "echo", "ran"}, Words{"devices"}, Words{"status"}}) {
    const auto ended = tool.run(command);
    EXPECT_EQ(ended.exit_code, to_int(ExitCode::unusable_setting));
    EXPECT_EQ(ended.out, "");
    EXPECT_THAT(ended.err, HasSubstr("GPUTEST_REQUIRE_GPUS (the nearest setting is GPUTEST_REQUIRE_GPU)"));
  }
  EXPECT_EQ(tool.run({"--help"}).exit_code, 0);
}

TEST(ParentLease, refuses_more_devices_than_it_has_with_69_and_what_to_write) {
  tests::Tool tool;
  for (const char* const devices : {"simulated:1x16GiB", "simulated:2x16GiB"}) {
    tool.set("GPUTEST_DEVICES", devices);
    const auto ended =
        tool.run({"run", "--name", "outer", "--", tests::Tool::path(), "run", "--gpus", "2", "--", "echo", "ran"});
    EXPECT_EQ(ended.exit_code, to_int(ExitCode::no_gpu)) << ended.err;
    EXPECT_EQ(ended.out, "");
    EXPECT_THAT(ended.err, HasSubstr("this process runs under the lease of outer (pid "));
    EXPECT_THAT(ended.err, HasSubstr("and asks for 2 x small; make that lease larger: gputest run --gpus 2 --memory "
                                     "small, or GPUS 2 MEMORY small in gpu_add_test() or gpu_discover_tests()"));
  }
}

TEST(LargeOption, is_refused_where_the_memory_is_not_large_as_gpu_add_test_does) {
  tests::Tool tool;
  for (const std::string memory : {"2 GiB", "medium", "small"}) {
    const auto word = memory == "2 GiB" ? "2GiB" : memory;
    const auto ended = tool.run({"run", "--memory", word, "--large", "serial", "--", "true"});
    EXPECT_EQ(ended.exit_code, to_int(ExitCode::wrong_command_line));
    EXPECT_THAT(ended.err, testing::StartsWith("gputest: --large serial is for large tests, but the memory is " +
                                               memory + "; write --memory large, or leave --large out\n"));
  }
  tool.set("GPUTEST_MEMORY", "large");
  EXPECT_EQ(tool.run({"run", "--large", "wait", "--", "true"}).exit_code, 0);
}

TEST(WaitLimit, fails_with_75_and_is_named_with_the_holder) {
  const tests::Tool tool;
  auto holder = tool.start_holder({"--memory", "12GiB", "--name", "the_holder"});
  const auto ended = tool.run({"run", "--memory", "12GiB", "--wait-limit", "0s", "--", "echo", "ran"});
  EXPECT_EQ(ended.exit_code, to_int(ExitCode::wait_limit));
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, HasSubstr("waited 0 s, its wait limit, for "));
  EXPECT_THAT(ended.err, HasSubstr("the_holder"));
  EXPECT_THAT(
      ended.err,
      HasSubstr("a longer limit (WAIT_LIMIT in gpu_add_test() or gpu_discover_tests(), --wait-limit of gputest run, or "
                "GPUTEST_WAIT_LIMIT) lets it wait longer"));
  EXPECT_EQ(holder.finish().exit_code, 0);
}

namespace {

/// The command that a message advises.
std::string advised(const std::string& text) {
  const std::string begin = "To run it alone: ";
  const auto at = text.find(begin);
  const auto end = text.find("; to run it with the others", at);
  return at == std::string::npos || end == std::string::npos ? "no command in: " + text
                                                             : text.substr(at + begin.size(), end - at - begin.size());
}

} // namespace

TEST(Advice, of_a_skip_under_ctest_can_be_pasted_anywhere) {
  tests::Tool tool;
  tool.set("GPUTEST_RUN_MODE", "");
  const std::string build = tool.folder().path() + "/build tree";
  std::filesystem::create_directory(build);
  const std::string name = "it's (large) $HOME";
  tool.folder().write("build tree/CTestTestfile.cmake",
                      "if(NOT CTEST_CONFIGURATION_TYPE STREQUAL \"Debug\")\n  return()\nendif()\n"
                      "add_test([==[" +
                          name + "]==] [[" + tests::Tool::path() + "]] run --memory large -- echo it ran)\n" +
                          "set_tests_properties([==[" + name +
                          "]==] PROPERTIES SKIP_RETURN_CODE 77 ENVIRONMENT [==[GPUTEST_TEST=" + name + "]==])\n",
                      0644);
  const auto skipped = tool.start_program({GPUTEST_CTEST, "-V", "-j2", "-C", "Debug", "--test-dir", build}).finish();
  const auto command = advised(skipped.out);
  const auto pasted = tool.start_program({"/bin/sh", "-c", "cd / && " + command + " -V"}).finish();
  EXPECT_THAT(pasted.out, HasSubstr("it ran")) << command << skipped.out;
  EXPECT_THAT(pasted.out, HasSubstr("100% tests passed"));
}

TEST(Advice, of_a_skip_without_ctest_can_be_pasted) {
  tests::Tool tool;
  tool.set("GPUTEST_RUN_MODE", "parallel");
  const auto command = advised(tool.run({"run", "--memory", "large", "--", "echo", "two  words", "$HOME"}).err);
  tool.set("GPUTEST_RUN_MODE", "serial");
  EXPECT_EQ(tool.start_program({"/bin/sh", "-c", command}).finish().out, "two  words $HOME\n") << command;
}

} // namespace gputest::tool
