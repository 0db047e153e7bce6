// SPDX-License-Identifier: BSD-3-Clause
#include "insights/ctest_list.hpp"

#include "support/in_child.hpp"
#include "support/message_of.hpp"
#include "support/private_folder.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace gputest::insights {
namespace {

TEST(CtestList, leaves_nothing_in_the_folder_for_temporary_files) {
  const tests::PrivateFolder parent;
  const tests::PrivateFolder suite;
  EXPECT_EQ(tests::in_child([&] {
              ::setenv("TMPDIR", parent.path().c_str(), 1);
              const bool listed = list_ctest(suite.path(), {}).find("\"tests\"") != std::string::npos;
              return listed && std::filesystem::is_empty(parent.path()) ? 0 : 1;
            }),
            0);
}

TEST(CtestList, is_an_error_that_says_what_to_do_where_no_folder_can_be_made) {
  EXPECT_EQ(tests::in_child([] {
              ::setenv("TMPDIR", "/no/such/folder", 1);
              const auto message = tests::message_of<Error>([] { static_cast<void>(list_ctest("/", {})); });
              return message.find("/no/such/folder/") != std::string::npos &&
                             message.find("Set TMPDIR to a folder in which you may write") != std::string::npos
                         ? 0
                         : 1;
            }),
            0);
}

} // namespace
} // namespace gputest::insights
