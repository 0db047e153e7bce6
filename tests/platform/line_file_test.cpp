// SPDX-License-Identifier: BSD-3-Clause
#include "platform/line_file.hpp"

#include "support/message_of.hpp"
#include "support/private_folder.hpp"

#include <gputest/error.hpp>

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace gputest::platform {
namespace {

using testing::HasSubstr;

class LineFiles : public ::testing::Test {
protected:
  [[nodiscard]] std::string path() const { return folder_.path() + "/logs/file"; }
  [[nodiscard]] std::string contents() const {
    std::ifstream file{path()};
    return {std::istreambuf_iterator<char>{file}, {}};
  }

  tests::PrivateFolder folder_;
  LineFile file_{folder_.path() + "/logs", "file"};
};

TEST_F(LineFiles, are_made_once_with_their_folder) {
  EXPECT_TRUE(file_.create());
  EXPECT_FALSE(file_.create());
  const auto mode = std::filesystem::status(path()).permissions();
  EXPECT_EQ(mode, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(LineFiles, grow_line_by_line) {
  EXPECT_TRUE(file_.create());
  file_.append("one");
  file_.append("two");
  EXPECT_EQ(contents(), "\none\n\ntwo\n");
}

TEST_F(LineFiles, keep_a_line_apart_from_the_part_that_a_killed_process_has_left) {
  EXPECT_TRUE(file_.create());
  std::ofstream{path()} << "one\ntw";
  file_.append("three");
  EXPECT_EQ(contents(), "one\ntw\nthree\n");
}

TEST_F(LineFiles, that_are_links_or_have_other_names_are_not_written) {
  EXPECT_TRUE(file_.create());
  std::filesystem::create_hard_link(path(), folder_.path() + "/other");
  EXPECT_THAT(tests::message_of<Error>([&] { file_.append("one"); }), HasSubstr("with one name"));
  std::filesystem::remove(path());
  std::filesystem::create_symlink(folder_.path() + "/other", path());
  EXPECT_FALSE(file_.create());
  EXPECT_THAT(tests::message_of<Error>([&] { file_.append("one"); }), HasSubstr("cannot be written to " + path()));
  EXPECT_EQ(std::filesystem::file_size(folder_.path() + "/other"), 0U);
}

} // namespace
} // namespace gputest::platform
