// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/storage/slot_store.hpp"

#include "support/message_of.hpp"
#include "support/private_folder.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <linux/magic.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <filesystem>

namespace {

decltype(std::declval<struct statfs>().f_type) pretended_type = 0; ///< of all file systems; 0: as they are

} // namespace

/// In the place of the C library's, for this executable.
extern "C" int fstatfs(int file, struct statfs* status) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_fstatfs, file, status));
  if (pretended_type != 0) {
    status->f_type = pretended_type;
  }
  return result;
}

namespace gputest::ledger {
namespace {

class NetworkFileSystem : public ::testing::Test {
protected:
  ~NetworkFileSystem() override { pretended_type = 0; }

  void open() const { const os::SlotStore store{folder_.path() + "/ledgers", "store", {3, 4096, 256, 32}}; }

  tests::PrivateFolder folder_;
};

TEST_F(NetworkFileSystem, is_refused_before_anything_is_made_there_and_after) {
  const std::string said = "a ledger cannot be in " + folder_.path() +
                           "/ledgers, which is on NFS: locks and FIFOs there need not hold between machines; set "
                           "GPUTEST_DIR to a folder of your own on a local file system";
  pretended_type = NFS_SUPER_MAGIC;
  EXPECT_EQ(tests::message_of<LedgerError>([&] { open(); }), said);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path() + "/ledgers"));
  pretended_type = 0;
  open();
  pretended_type = NFS_SUPER_MAGIC;
  EXPECT_EQ(tests::message_of<LedgerError>([&] { open(); }), said);
}

TEST_F(NetworkFileSystem, is_not_what_a_disk_of_this_machine_is_taken_for) {
  pretended_type = EXT4_SUPER_MAGIC;
  open();
}

} // namespace
} // namespace gputest::ledger
