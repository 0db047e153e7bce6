// SPDX-License-Identifier: BSD-3-Clause
#include "workers/mps_daemon.hpp"

#include "support/private_folder.hpp"

#include "support/child_text.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace gputest::workers {
namespace {

TEST(MpsDaemon, is_there_if_it_accepts_connections_of_one_of_two_types) {
  const tests::PrivateFolder path;
  const auto folder = open_own_folder(AT_FDCWD, path.path().c_str());
  EXPECT_FALSE(has_mps_daemon(folder));
  const auto address = address_in(folder, "control");
  for (const int type : {SOCK_SEQPACKET, SOCK_STREAM}) {
    const Descriptor socket{::socket(AF_UNIX, type | SOCK_CLOEXEC, 0)};
    ASSERT_EQ(::bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_FALSE(has_mps_daemon(folder)) << "it does not listen yet";
    ASSERT_EQ(::listen(socket.number(), 0), 0);
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(has_mps_daemon(folder)) << "one that has others to wait for too";
    }
    ASSERT_EQ(::unlink((path.path() + "/control").c_str()), 0);
  }
}

} // namespace
} // namespace gputest::workers
