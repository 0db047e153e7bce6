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

  static int error_of(const std::string& command, const std::optional<std::string>& path) {
    const auto found = find_command(command, path);
    EXPECT_EQ(found.file.empty(), found.error != 0);
    return found.error;
  }

  tests::PrivateFolder folder_;
};

} // namespace

TEST_F(CommandPath, takes_a_command_with_a_slash_as_a_file) {
  EXPECT_EQ(error_of(in_folder("runs"), ""), 0);
  EXPECT_EQ(error_of(in_folder("missing"), ""), ENOENT);
  EXPECT_EQ(error_of(in_folder("runs/below"), ""), ENOTDIR);
  EXPECT_EQ(error_of(in_folder("data"), ""), EACCES);
  EXPECT_EQ(error_of(in_folder("folder"), ""), EACCES);
}

TEST_F(CommandPath, looks_for_any_other_command_in_the_folders_of_path) {
  EXPECT_EQ(error_of("runs", "/nowhere:" + folder_.path()), 0);
  EXPECT_EQ(error_of("missing", "/nowhere:" + folder_.path()), ENOENT);
  EXPECT_EQ(error_of("data", folder_.path() + ":/nowhere"), EACCES);
  EXPECT_EQ(error_of("", folder_.path()), ENOENT);
}

TEST_F(CommandPath, takes_an_empty_folder_of_path_for_the_working_directory) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  for (const char* const path : {"", ":/nowhere", "/nowhere:", "/nowhere::/nowhere"}) {
    EXPECT_EQ(error_of("runs", path), 0) << path;
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

TEST_F(CommandPath, takes_the_usual_folders_where_path_is_not_set) { EXPECT_EQ(error_of("sh", std::nullopt), 0); }

} // namespace gputest::tool
