// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/scratch_folder.hpp"

#include "support/in_child.hpp"
#include "support/message_of.hpp"
#include "support/private_folder.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace gputest::os {
namespace {

namespace fs = std::filesystem;

TEST(ScratchFolders, are_in_the_folder_for_temporary_files_and_removed_with_all_that_is_in_them) {
  const tests::PrivateFolder parent;
  EXPECT_EQ(tests::in_child([&] {
              ::setenv("TMPDIR", parent.path().c_str(), 1);
              std::string first;
              {
                const os::ScratchFolder folder;
                const os::ScratchFolder other;
                first = folder.path();
                fs::create_directory(first + "/folder");
                std::ofstream{first + "/folder/file"} << "text";
                const bool good = fs::path{first}.parent_path() == parent.path() && other.path() != first &&
                                  fs::exists(first + "/folder/file") && fs::exists(other.path()) &&
                                  fs::status(first).permissions() == fs::perms::owner_all;
                if (!good) {
                  return 1;
                }
              }
              return fs::is_empty(parent.path()) ? 0 : 2;
            }),
            0);
}

TEST(ScratchFolders, that_cannot_be_made_are_an_error_that_says_what_to_do) {
  EXPECT_EQ(tests::in_child([] {
              ::setenv("TMPDIR", "/no/such/folder", 1);
              const auto said = tests::message_of<Error>([] { const os::ScratchFolder folder; });
              return said.find("no temporary folder can be made: /no/such/folder/gputest-scratch-") == 0 &&
                             said.find(": No such file or directory. Set TMPDIR to a folder in which you may write") !=
                                 std::string::npos
                         ? 0
                         : 1;
            }),
            0);
  EXPECT_EQ(tests::in_child([] {
              ::unsetenv("TMPDIR");
              const os::ScratchFolder folder;
              return folder.path().rfind("/tmp/gputest-scratch-", 0) == 0 ? 0 : 1;
            }),
            0);
}

} // namespace
} // namespace gputest::os
