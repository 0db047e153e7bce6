// SPDX-License-Identifier: BSD-3-Clause
#include "tool/command_path.hpp"

#include "support/private_folder.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>

namespace gputest::tool {

namespace {

class CommandPath : public ::testing::Test {
protected:
  CommandPath() {
    folder_.write("runs", "#!/bin/sh\n", 0755);
    folder_.write("data", "", 0644);
    folder_.make_folder("folder");
  }

  [[nodiscard]] std::string in_folder(const std::string& name) const { return folder_.path() + "/" + name; }

  [[nodiscard]] ExitCode code_of(const std::string& command, const std::optional<std::string>& path) const {
    const auto found = find_command(command, path);
    EXPECT_EQ(found.file.empty(), found.error != 0);
    return found.error == 0 ? ExitCode::done : problem_of_exec(command, found.error).code;
  }

  tests::PrivateFolder folder_;
};

} // namespace

TEST_F(CommandPath, takes_a_command_with_a_slash_as_a_file) {
  EXPECT_EQ(code_of(in_folder("runs"), ""), ExitCode::done);
  EXPECT_EQ(code_of(in_folder("missing"), ""), ExitCode::not_found);
  EXPECT_EQ(code_of(in_folder("runs/below"), ""), ExitCode::not_found);
  EXPECT_EQ(code_of(in_folder("data"), ""), ExitCode::cannot_execute);
  EXPECT_EQ(code_of(in_folder("folder"), ""), ExitCode::cannot_execute);
}

TEST_F(CommandPath, looks_for_any_other_command_in_the_folders_of_path) {
  EXPECT_EQ(code_of("runs", "/nowhere:" + folder_.path()), ExitCode::done);
  EXPECT_EQ(code_of("missing", "/nowhere:" + folder_.path()), ExitCode::not_found);
  EXPECT_EQ(code_of("data", folder_.path() + ":/nowhere"), ExitCode::cannot_execute);
  EXPECT_EQ(code_of("", folder_.path()), ExitCode::not_found);
}

TEST_F(CommandPath, takes_an_empty_folder_of_path_for_the_working_directory) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  for (const char* const path : {"", ":/nowhere", "/nowhere:", "/nowhere::/nowhere"}) {
    EXPECT_EQ(code_of("runs", path), ExitCode::done) << path;
  }
  EXPECT_EQ(find_command("runs", "/nowhere:").file, "./runs");
  std::filesystem::current_path(before);
}

TEST_F(CommandPath, is_that_of_the_first_file_that_can_be_executed) {
  folder_.write("folder/runs", "#!/bin/sh\n", 0755);
  folder_.write("folder/data", "#!/bin/sh\n", 0755);
  const auto both = "/nowhere:" + folder_.path() + ":" + in_folder("folder");
  EXPECT_EQ(find_command("runs", both).file, in_folder("runs"));
  EXPECT_EQ(find_command("data", both).file, in_folder("folder/data"));
  EXPECT_EQ(find_command("data", folder_.path()).file, "");
  EXPECT_EQ(find_command("missing", both).file, "");
  EXPECT_EQ(find_command(in_folder("runs"), "/nowhere").file, in_folder("runs"));
  EXPECT_EQ(find_command(in_folder("data"), both).file, "");
}

TEST_F(CommandPath, takes_the_usual_folders_where_path_is_not_set) {
  EXPECT_EQ(code_of("sh", std::nullopt), ExitCode::done);
}

TEST_F(CommandPath, says_what_is_wrong_and_what_to_do) {
  EXPECT_EQ(problem_of_exec("missing", ENOENT).text,
            "cannot find the command 'missing' in any folder of PATH; give its path if it is elsewhere");
  EXPECT_EQ(problem_of_exec(in_folder("data"), EACCES).text,
            "cannot execute '" + in_folder("data") +
                "': Permission denied; it has to be a file with execute permission");
  EXPECT_EQ(problem_of_exec("./script", ENOENT).text,
            "cannot find the command './script': there is no such file, or the interpreter it names is missing");
  EXPECT_EQ(problem_of_exec("./script", E2BIG).text, "cannot execute './script': Argument list too long");
  EXPECT_EQ(problem_of_exec("./script", E2BIG).code, ExitCode::cannot_execute);
}

} // namespace gputest::tool
