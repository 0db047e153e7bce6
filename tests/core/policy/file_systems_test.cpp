// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/file_systems.hpp"

#include <gtest/gtest.h>

#include <linux/magic.h>

#include <vector>

namespace gputest::policy {
namespace {

struct Case {
  std::uint32_t type;
  const char* name;
};

TEST(FileSystems, of_other_machines_are_known) {
  for (const auto& [type, name] :
       {Case{NFS_SUPER_MAGIC, "NFS"}, Case{SMB_SUPER_MAGIC, "SMB"}, Case{0xFE534D42, "SMB"}, Case{0xFF534D42, "CIFS"},
        Case{AFS_SUPER_MAGIC, "AFS"}, Case{0x6B414653, "AFS"}, Case{CODA_SUPER_MAGIC, "Coda"}, Case{0x00C36400, "Ceph"},
        Case{0x0BD00BD0, "Lustre"}, Case{0x47504653, "GPFS"}, Case{0x19830326, "BeeGFS"}, Case{0x01161970, "GFS2"},
        Case{OCFS2_SUPER_MAGIC, "OCFS2"}, Case{0xAAD7AAEA, "PanFS"}, Case{0x20030528, "OrangeFS"},
        Case{V9FS_MAGIC, "9P"}, Case{0x786F4256, "vboxsf"}, Case{0xBACBACBC, "vmhgfs"}, Case{0x65735546, "FUSE"}}) {
    EXPECT_EQ(network_file_system(type), name) << std::hex << type;
  }
}

TEST(FileSystems, of_this_machine_are_fine) {
  for (const std::uint32_t type :
       std::vector<std::uint32_t>{TMPFS_MAGIC, RAMFS_MAGIC, EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
                                  OVERLAYFS_SUPER_MAGIC, F2FS_SUPER_MAGIC, 0x2FC12FC1 /* ZFS */, 0U}) {
    EXPECT_EQ(network_file_system(type), "") << std::hex << type;
  }
}

} // namespace
} // namespace gputest::policy
