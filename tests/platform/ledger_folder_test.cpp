// SPDX-License-Identifier: BSD-3-Clause
#include "platform/ledger_folder.hpp"

#include "support/private_folder.hpp"
#include "support/shared_folder.hpp"

#include <gtest/gtest.h>

#include <string>

#include <unistd.h>

namespace gputest::platform {
namespace {

TEST(PrivateFolder, of_a_setting_is_the_folder_unless_that_is_shared) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can be two users";
  }
  const tests::PrivateFolder parent;
  const std::string shared = parent.path() + "/shared";
  tests::make_shared_folder(shared);
  const std::string own = "/tmp/gputest-" + std::to_string(::geteuid());
  EXPECT_EQ(private_folder(shared), own) << "what is not for others has no place there";
  EXPECT_EQ(private_folder(parent.path()), parent.path());
  EXPECT_EQ(private_folder(parent.path() + "/not_made_yet"), parent.path() + "/not_made_yet");
  EXPECT_EQ(private_folder(""), own);
}

} // namespace
} // namespace gputest::platform
