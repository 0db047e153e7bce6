// SPDX-License-Identifier: BSD-3-Clause
// The manual page, against the description of the command line that the tool itself parses by.

#include "tool/documents/documents.hpp"

#include "support/tool.hpp"
#include "tool/command_line.hpp"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace gputest::tool {

namespace {

using testing::HasSubstr;
using testing::Not;

ToolDescription tool_description() {
  CommandLine unused;
  return describe(*describe_command_line(unused));
}

/// A command line with all that is peculiar in a text or an option.
ToolDescription small_tool() {
  ToolDescription description;
  description.version = "tool 3";
  const std::string end = "\nExit codes:\n  0  done\n";
  description.tool = {
      "tool", "tool [OPTIONS]", "Does it-all.", "Examples:\n  tool go\n" + end, {{{"-h", "--help"}, "", "print this"}}};
  description.commands = {
      {"go",
       "tool go [--] COMMAND",
       "Goes",
       "help of go:\n.dots and \\ stay.\n'quotes' do, too\nSettings (of the shell):\nown line\n" + end,
       {{{"--size"}, "small|SIZE|large", "it's a size [of: 1]"}, {{"-n", "--number"}, "N", "how many"}}},
      {"stop", "tool stop", "Stops: at once", "Ends it.\n" + end, {{{"--now"}, "", "at once"}}},
      {"wait", "tool wait", "Waits", end, {}}};
  return description;
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
  }
}

TEST(Documents, describe_options_as_people_write_them) {
  CLI::App app{"Does something.", "tool"};
  app.set_version_flag("--version", "tool 3");
  app.footer("Help of the tool.");
  auto* command = app.add_subcommand("go", "Goes");
  command->footer("Help of go.");
  std::string size;
  std::size_t number = 0;
  bool flag = false;
  command->add_option("--size", size, "a size")->type_name("small|SIZE|large");
  command->add_option("-n,--number", number, "how many")->type_name("N")->check(CLI::Range(1, 16));
  command->add_flag("--flag", flag, "a flag");
  command->add_option("FILE", size, "no option");
  app.add_subcommand("stop", "Stops");
  const auto tool = describe(app);
  EXPECT_EQ(tool.version, "tool 3");
  EXPECT_EQ(tool.tool.name, "tool");
  EXPECT_EQ(tool.tool.text, "Does something.");
  EXPECT_EQ(tool.tool.help, "Help of the tool.");
  EXPECT_EQ(tool.tool.usage.find("tool [OPTIONS]"), 0U) << tool.tool.usage;
  ASSERT_EQ(tool.commands.size(), 2U);
  const auto& go = tool.commands[0];
  EXPECT_EQ(go.name, "go");
  EXPECT_EQ(go.text, "Goes");
  EXPECT_EQ(go.help, "Help of go.");
  EXPECT_EQ(go.usage.find("tool go [OPTIONS]"), 0U) << go.usage;
  ASSERT_EQ(go.options.size(), 4U); // with --help
  EXPECT_EQ(go.options[1].names, std::vector<std::string>{"--size"});
  EXPECT_EQ(go.options[1].value, "small|SIZE|large");
  EXPECT_EQ(go.options[1].text, "a size");
  EXPECT_EQ(go.options[2].names, (std::vector<std::string>{"-n", "--number"}));
  EXPECT_EQ(go.options[2].value, "N");
  EXPECT_EQ(go.options[3].value, "");
  EXPECT_EQ(tool.commands[1].name, "stop");
}

TEST(ManPage, is_text_as_roff_takes_it) {
  EXPECT_EQ(man_page(small_tool()), R"man(.\" Made from the description of the command line.
.TH TOOL 1 "" "tool 3"
.SH NAME
tool \- Does it\-all.
.SH SYNOPSIS
.nf
tool [OPTIONS]
tool go [\-\-] COMMAND
tool stop
tool wait
.fi
.SH OPTIONS
.TP
\fB\-h\fR, \fB\-\-help\fR
print this
.SH COMMAND GO
Goes.
.TP
\fB\-\-size\fR \fIsmall|SIZE|large\fR
it's a size [of: 1]
.TP
\fB\-n\fR, \fB\-\-number\fR \fIN\fR
how many
.PP
.nf
help of go:
\&.dots and \e stay.
\&'quotes' do, too
.fi
.SS Settings
.nf
own line
.fi
.SH COMMAND STOP
Stops: at once.
.TP
\fB\-\-now\fR
at once
.PP
.nf
Ends it.
.fi
.SH COMMAND WAIT
Waits.
.PP
.nf

.fi
.nf
.fi
.SH EXAMPLES
.nf
  tool go

.fi
.SH EXIT CODES
.nf
  0  done
.fi
)man");
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
  EXPECT_THAT(page, HasSubstr(" 1 \"\" \"gputest " GPUTEST_VERSION "\"\n"));
  EXPECT_THAT(page, Not(HasSubstr("\n'"))) << "roff would take the line for a request";
}

#ifdef GPUTEST_WRITE_DOCUMENTS
namespace {

std::string contents_of(const tests::Tool& tool, const std::string& name) {
  std::ifstream file{tool.folder().path() + "/" + name};
  return {std::istreambuf_iterator<char>{file}, {}};
}

} // namespace

TEST(WriteDocuments, writes_the_page_and_fails_where_it_cannot_be_written) {
  const tests::Tool tool;
  const auto write_into = [&](const std::string& folder) {
    return tool.start_program({GPUTEST_WRITE_DOCUMENTS, folder}).finish();
  };
  EXPECT_EQ(write_into(tool.folder().path()).exit_code, 0);
  const auto description = tool_description();
  EXPECT_EQ(contents_of(tool, "gputest.1"), man_page(description));
  const auto missing = write_into(tool.folder().path() + "/missing");
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("write_documents: "));
  std::filesystem::remove(tool.folder().path() + "/gputest.1");
  std::filesystem::create_symlink("/dev/full", tool.folder().path() + "/gputest.1");
  EXPECT_EQ(write_into(tool.folder().path()).exit_code, 1) << "the disk is full";
  const auto without_folder = tool.start_program({GPUTEST_WRITE_DOCUMENTS}).finish();
  EXPECT_EQ(without_folder.exit_code, 1);
  EXPECT_EQ(without_folder.err, "write_documents: say the folder to write into\n");
}
#endif

} // namespace gputest::tool
