// SPDX-License-Identifier: BSD-3-Clause
// The manual page and the completions, against the description of the command line that the tool itself parses by.

#include "cli/documents/documents.hpp"

#include "cli/command_line.hpp"
#include "tool.hpp"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace gputest::cli {

namespace {

using testing::HasSubstr;
using testing::Not;

ToolDescription tool_description() {
  CommandLine unused;
  return describe(*describe_command_line(unused));
}

/// Every option of the command line itself, as `<command>: --<name>`.
std::vector<std::string> options_of_the_application() {
  CommandLine unused;
  const auto app = describe_command_line(unused);
  std::vector<std::string> options;
  for (const auto* command : app->get_subcommands([](const CLI::App* /*any*/) { return true; })) {
    for (const auto* option : command->get_options()) {
      if (option->nonpositional()) {
        options.push_back(command->get_name() + ": " + option->get_name());
      }
    }
  }
  return options;
}

/// What bash completes at the end of these words, with nothing but the generated file.
std::string completed_by_bash(const std::string& words, int number_of_words) {
  const Tool tool;
  tool.folder().write("gputest.bash", bash_completion(tool_description()), 0644);
  const std::string script = "source '" + tool.folder().path() + "/gputest.bash'; COMP_WORDS=(" + words +
                             "); COMP_CWORD=" + std::to_string(number_of_words - 1) +
                             "; _gputest; echo \"${COMPREPLY[*]}\"";
  const auto ended = tool.start_program({"/bin/bash", "--norc", "-c", script}).finish();
  EXPECT_EQ(ended.err, "");
  return ended.out;
}

} // namespace

TEST(Documents, have_every_option_of_the_application) {
  const auto description = tool_description();
  const auto options = options_of_the_application();
  ASSERT_GE(options.size(), 12U);
  std::vector<std::string> described;
  for (const auto& command : description.commands) {
    for (const auto& option : command.options) {
      std::string text = command.name + ": ";
      text += option.names.back();
      described.push_back(text);
    }
  }
  EXPECT_EQ(described, options);
  auto man = man_page(description);
  man.erase(std::remove(man.begin(), man.end(), '\\'), man.end());
  for (const auto& option : options) {
    const std::string name = option.substr(option.find("--"));
    EXPECT_THAT(man, HasSubstr("fB" + name + "fR"));
    EXPECT_THAT(bash_completion(description), HasSubstr(" " + name));
    EXPECT_THAT(zsh_completion(description), HasSubstr("'" + name));
    EXPECT_THAT(fish_completion(description), HasSubstr(" -l " + name.substr(2) + " "));
  }
}

TEST(Documents, have_the_values_that_can_be_written_as_they_are) {
  const auto description = tool_description();
  EXPECT_THAT(zsh_completion(description), HasSubstr(":(small medium large)'"));
  EXPECT_THAT(fish_completion(description), HasSubstr("-l large -x -a 'exclude serial wait'"));
}

TEST(ManPage, has_what_help_says_and_repeats_none_of_it) {
  const auto page = man_page(tool_description());
  const auto count = [&](const std::string& text) {
    std::size_t number = 0;
    for (auto at = page.find(text); at != std::string::npos; at = page.find(text, at + 1)) {
      ++number;
    }
    return number;
  };
  EXPECT_EQ(count("GPUTEST_DEVICE_MEMORY  "), 1U);
  EXPECT_EQ(count(".SH SETTINGS\n"), 1U);
  EXPECT_EQ(count("gputest run [OPTIONS] [\\-\\-] COMMAND [ARGUMENT...]\n"), 1U);
  EXPECT_THAT(page, HasSubstr("replaces itself with COMMAND"));
  EXPECT_THAT(page, HasSubstr("free_for_next_bytes"));
  EXPECT_THAT(page, Not(HasSubstr("\n'"))) << "roff would take the line for a request";
}

TEST(BashCompletion, knows_commands_options_and_values) {
  EXPECT_EQ(completed_by_bash("gputest ''", 2),
            "run devices status plan report classify isolate -h --help --version\n");
  EXPECT_EQ(completed_by_bash("gputest st", 2), "status\n");
  EXPECT_EQ(completed_by_bash("gputest run --me", 3), "--memory\n");
  EXPECT_EQ(completed_by_bash("gputest run --memory ''", 4), "small medium large\n");
  EXPECT_EQ(completed_by_bash("gputest run --memory = l", 5), "large\n");
  EXPECT_EQ(completed_by_bash("gputest run --memory large --large =", 6), "exclude serial wait\n");
  EXPECT_EQ(completed_by_bash("gputest status --j", 3), "--json\n");
}

TEST(BashCompletion, leaves_the_command_that_is_run_to_others) {
  EXPECT_THAT(completed_by_bash("gputest run -- mkdi", 4), HasSubstr("mkdir\n"));
  EXPECT_THAT(completed_by_bash("gputest run --memory small mkdi", 5), HasSubstr("mkdir\n"));
  EXPECT_EQ(completed_by_bash("gputest run -- ls --memory /bi", 6), "/bin\n") << "a file, and no value of --memory";
}

#ifdef GPUTEST_WRITE_DOCUMENTS
TEST(WriteDocuments, fails_where_one_cannot_be_written) {
  const Tool tool;
  const auto write_into = [&](const std::string& folder) {
    return tool.start_program({GPUTEST_WRITE_DOCUMENTS, folder}).finish();
  };
  EXPECT_EQ(write_into(tool.folder().path()).exit_code, 0);
  const auto missing = write_into(tool.folder().path() + "/missing");
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("write_documents: "));
  std::filesystem::remove(tool.folder().path() + "/_gputest");
  std::filesystem::create_symlink("/dev/full", tool.folder().path() + "/_gputest");
  EXPECT_EQ(write_into(tool.folder().path()).exit_code, 1) << "the disk is full";
}
#endif

} // namespace gputest::cli
