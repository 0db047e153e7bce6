// SPDX-License-Identifier: BSD-3-Clause
// What the tool makes of its arguments, its help, and the manual page.
#include "core/settings/settings.hpp"
#include "support/tool.hpp"
#include "tool/exit_codes.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace gputest::tool {

namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;
using Words = std::vector<std::string>;

const Words commands{"run", "devices", "status", "needs", "plan", "slurm", "report"};

} // namespace

TEST(Help, goes_to_stdout_and_names_the_exit_codes_of_each_command) {
  const tests::Tool tool;
  const auto codes_of = [&](const Words& arguments) {
    const auto ended = tool.run(arguments);
    EXPECT_EQ(ended.exit_code, 0);
    EXPECT_EQ(ended.err, "");
    std::istringstream help{ended.out};
    std::vector<int> codes;
    bool begun = false;
    for (std::string line; std::getline(help, line);) {
      begun = begun || line == "Exit codes:";
      if (begun && line.find_first_of("0123456789") < 5) {
        codes.push_back(std::stoi(line));
      }
    }
    return codes;
  };
  using Codes = std::vector<int>;
  std::map<std::string, Codes> expected{{"run", {0, 64, 69, 70, 75, 77, 78, 126, 127}},
                                        {"devices", {0, 64, 69, 70, 78}},
                                        {"needs", {0, 1, 64, 70, 78}},
                                        {"slurm", {0, 8, 64, 70, 78}}};
  for (const auto& command : commands) {
    EXPECT_EQ(codes_of({command, "--help"}), expected.emplace(command, Codes{0, 64, 70, 78}).first->second) << command;
  }
  EXPECT_EQ(codes_of({"-h"}), (Codes{0, 64, 70, 78}));
}

TEST(Help, of_the_tool_mentions_every_setting) {
  EXPECT_THAT(tests::Tool{}.run({"--help-settings"}).out, HasSubstr(settings::settings_reference()));
  const auto overview = tests::Tool{}.run({"--help"}).out;
  EXPECT_LE(std::count(overview.begin(), overview.end(), '\n'), 40) << "fits a screen";
}

TEST(Help, names_no_cmake_package_of_a_tool_that_is_not_installed) {
  const auto ended = tests::Tool{}.run({"--cmake-dir"});
  EXPECT_EQ(ended.exit_code, 64);
  EXPECT_THAT(ended.err, HasSubstr("this gputest is not installed. That of a build tree is in its top folder"));
}

TEST(Help, has_a_version) { EXPECT_EQ(tests::Tool{}.run({"--version"}).out, "gputest " GPUTEST_VERSION "\n"); }

#ifdef GPUTEST_MANUAL_PAGE
TEST(ManualPage, has_a_section_for_each_command) {
  std::ifstream file{GPUTEST_MANUAL_PAGE};
  std::string page{std::istreambuf_iterator<char>{file}, {}};
  for (const auto& command : commands) {
    EXPECT_THAT(page, HasSubstr("\n.SH GPUTEST " + command + "\n"));
  }
  EXPECT_THAT(page, HasSubstr("replaces itself with COMMAND"));
}
#endif

TEST(CommandLine, hands_every_word_of_a_command_on_unchanged) {
  const std::vector<std::pair<Words, std::string>> table{
      {{"run", "--memory", "3GiB", "--", "printf", "%s|", "--memory", "7"}, "--memory|7|"},
      {{"run", "--memory=3GiB", "printf", "%s|", "--memory", "7", "--help"}, "--memory|7|--help|"},
      {{"run", "printf", "%s|", "a", "--", "--gpus", "--", "b"}, "a|--|--gpus|--|b|"},
      {{"run", "--", "printf", "%s|", "--", "a"}, "--|a|"},
      {{"run", "--", "printf", "%s|", "", " two words ", "*", "$HOME"}, "| two words |*|$HOME|"},
      {{"run", "--", "printf", "%s|", "run", "status", "--json", "-h", "--version", "++"},
       "run|status|--json|-h|--version|++|"},
      {{"run", "printf", "%s|", "devices"}, "devices|"},
  };
  const tests::Tool tool;
  for (const auto& [arguments, out] : table) {
    const auto ended = tool.run(arguments);
    EXPECT_EQ(ended.out, out) << ended.err;
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
  }
  EXPECT_EQ(tool.run({"run", "devices", "--json"}).exit_code, to_int(ExitCode::not_found)) << "it is no command to run";
}

TEST(CommandLine, is_refused_with_64_and_says_what_is_wrong_and_where_help_is) {
  const std::string all = "the commands are run, devices, status, needs, plan, slurm, report and merge\n"
                          "See 'gputest --help'.\n";
  const std::string stands_after =
      " A command whose name begins with '-' stands after '--'\nSee 'gputest run --help'.\n";
  const std::string no_command = "gputest: there is no command to run; write 'gputest run [OPTIONS] -- COMMAND "
                                 "[ARGUMENT...]'\nSee 'gputest run --help'.\n";
  const std::string no_words = "only 'gputest run' takes a command after '--', and 'gputest plan' and "
                               "'gputest slurm' options of ctest\nSee 'gputest devices --help'.\n";
  // Of each line the begin and the end of what it says; empty: any.
  const std::vector<std::tuple<Words, std::string, std::string>> table{
      {{}, "gputest: the command is missing; " + all, ""},
      {{"rum", "true"}, "gputest: 'rum' is not a command; " + all, ""},
      {{"--unknown"}, "", "See 'gputest --help'.\n"},
      {{"run"}, no_command, ""},
      {{"run", "--"}, no_command, ""},
      {{"run", "--memory", "--", "true"}, "", "--help'.\n"},
      {{"run", "--memroy", "3GiB", "--", "true"},
       "gputest: unknown option '--memroy' of 'gputest run'; the nearest is --memory.",
       stands_after},
      {{"run", "--waitlimit=3s", "true"}, "gputest: unknown option '--waitlimit' of 'gputest run'", stands_after},
      {{"run", "-x", "true"}, "", stands_after},
      {{"run", "--memory", "3GB", "--", "true"}, "gputest: --memory '3GB'", "See 'gputest run --help'.\n"},
      {{"run", "--memory", "1GiB", "--memory", "2GiB", "--", "true"},
       "gputest: --memory",
       "See 'gputest run --help'.\n"},
      {{"run", "--gpus", "-1", "--", "true"}, "gputest: --gpus", ""},
      {{"run", "--gpus", "17", "--", "true"}, "gputest: --gpus", ""},
      {{"run", "--gpus", "two", "--", "true"}, "", "--help'.\n"},
      {{"run", "--large", "maybe", "--", "true"}, "gputest: --large", ""},
      {{"run", "--wait-limit", "soon", "--", "true"}, "gputest: --wait-limit", ""},
      {{"run", "--requires", "wings", "--", "true"}, "gputest: --requires", ""},
      {{"devices", "extra"}, "", "--help'.\n"},
      {{"devices", "--", "true"}, "gputest: " + no_words, ""},
      {{"devices", "--jsno"},
       "gputest: unknown option '--jsno' of 'gputest devices'; the nearest is --json\nSee 'gputest devices --help'.\n",
       ""},
      {{"devices", "--json", "--for-ctest"}, "", "See 'gputest devices --help'.\n"},
      {{"status", "--watch"}, "gputest: unknown option '--watch'", "See 'gputest status --help'.\n"},
      {{"status", "--", "true"}, "", "See 'gputest status --help'.\n"},
      {{"report", "--", "true"}, "", "See 'gputest report --help'.\n"},
      {{"needs", "--", "true"}, "", "See 'gputest needs --help'.\n"},
      {{"plan", "--shards", "0"}, "", "See 'gputest plan --help'.\n"},
  };
  const tests::Tool tool;
  for (const auto& [arguments, begin, end] : table) {
    SCOPED_TRACE(testing::PrintToString(arguments));
    const auto ended = tool.run(arguments);
    EXPECT_EQ(ended.exit_code, to_int(ExitCode::wrong_command_line));
    EXPECT_EQ(ended.out, "");
    EXPECT_THAT(ended.err, StartsWith(begin.empty() ? "gputest: " : begin));
    EXPECT_THAT(ended.err, EndsWith(end.empty() ? "--help'.\n" : end));
  }
  EXPECT_FALSE(std::filesystem::exists(tool.ledger()));
}

TEST(CommandLine, takes_precedence_over_variables_which_may_then_be_unusable) {
  tests::Tool tool;
  for (const char* const name : {"GPUTEST_MEMORY", "GPUTEST_GPUS", "GPUTEST_REQUIRES", "GPUTEST_LARGE",
                                 "GPUTEST_WAIT_LIMIT", "GPUTEST_REQUIRE_GPU"}) {
    tool.set(name, "bad");
  }
  tool.set("GPUTEST_TEST", "theirs");
  tool.set("GPUTEST_DEVICES", "simulated:2x16GiB");
  Words options{"run",     "--memory", "large",        "--gpus", "2",      "--requires", "memory_pools",
                "--large", "wait",     "--wait-limit", "7s",     "--name", "mine",       "--require-gpu"};
  options.insert(options.end(), {"--", "sh", "-c", "echo $GPUTEST_MEMORY"});
  const auto ended = tool.run(options);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.out, "bad\n") << "the command's environment is as it was";
  EXPECT_THAT(ended.err, HasSubstr("admitted mine: 2 x large"));
  tool.set("GPUTEST_MEMORY", "3GiB");
  tool.set("GPUTEST_LARGE", "");
  tool.set("GPUTEST_WAIT_LIMIT", "");
  tool.set("GPUTEST_REQUIRE_GPU", "");
  tool.set("GPUTEST_REQUIRES", "tcc");
  const auto unusable = tool.run({"run", "--", "true"});
  EXPECT_EQ(unusable.exit_code, to_int(ExitCode::unusable_setting));
  EXPECT_THAT(unusable.err, HasSubstr("GPUTEST_GPUS"));
  EXPECT_EQ(tool.run({"run", "--gpus", "1", "--", "true"}).exit_code, to_int(ExitCode::skipped))
      << "tcc is still asked";
  EXPECT_THAT(tool.run({"run", "--gpus", "1", "--requires", "", "--", "true"}).err, HasSubstr("theirs: 3 GiB"));
}

} // namespace gputest::tool
