// SPDX-License-Identifier: BSD-3-Clause
#include "tool/command_path.hpp"

#include "support/private_folder.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

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

  tests::PrivateFolder folder_;
};

} // namespace

TEST_F(CommandPath, is_a_file_by_its_path_or_the_first_in_path_that_can_be_executed_or_an_error) {
  folder_.write("folder/runs", "#!/bin/sh\n", 0755);
  folder_.write("folder/data", "#!/bin/sh\n", 0755);
  const auto both = "/nowhere:" + folder_.path() + ":" + in_folder("folder");
  struct Row {
    std::string command;
    std::string path;
    std::string file; ///< empty: an error
    int error = 0;
  };
  const std::vector<Row> rows{
      {in_folder("runs"), "/nowhere", in_folder("runs")},
      {in_folder("missing"), both, "", ENOENT},
      {in_folder("runs/below"), both, "", ENOTDIR},
      {in_folder("data"), both, "", EACCES},
      {in_folder("folder"), both, "", EACCES},
      {"runs", both, in_folder("runs")},
      {"data", both, in_folder("folder/data")},
      {"data", folder_.path() + ":/nowhere", "", EACCES},
      {"missing", both, "", ENOENT},
      {"", folder_.path(), "", ENOENT},
  };
  for (const auto& row : rows) {
    const auto found = find_command(row.command, row.path);
    EXPECT_EQ(found.file, row.file) << row.command;
    EXPECT_EQ(found.error, row.error) << row.command;
  }
}

TEST_F(CommandPath, takes_an_empty_folder_of_path_for_the_working_directory) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  for (const char* const path : {"", ":/nowhere", "/nowhere:", "/nowhere::/nowhere"}) {
    EXPECT_EQ(find_command("runs", path).error, 0) << path;
  }
  EXPECT_EQ(find_command("runs", "/nowhere:").file, "./runs");
  std::filesystem::current_path(before);
}

TEST_F(CommandPath, takes_the_usual_folders_where_path_is_not_set) {
  EXPECT_EQ(find_command("sh", std::nullopt).error, 0);
}

} // namespace gputest::tool
