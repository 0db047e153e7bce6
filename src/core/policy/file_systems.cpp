// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/file_systems.hpp"

#include <algorithm>
#include <array>

namespace gputest::policy {

namespace {

struct FileSystem {
  std::uint32_t type;
  std::string_view name;
};

/// From linux/magic.h and, if the kernel does not have them itself, from the file system's own sources.
constexpr std::array network_file_systems{
    FileSystem{0x00006969, "NFS"},    FileSystem{0x0000517B, "SMB"},    FileSystem{0xFE534D42, "SMB"},
    FileSystem{0xFF534D42, "CIFS"},   FileSystem{0x5346414F, "AFS"},    FileSystem{0x6B414653, "AFS"},
    FileSystem{0x73757245, "Coda"},   FileSystem{0x00C36400, "Ceph"},   FileSystem{0x0BD00BD0, "Lustre"},
    FileSystem{0x47504653, "GPFS"},   FileSystem{0x19830326, "BeeGFS"}, FileSystem{0x01161970, "GFS2"},
    FileSystem{0x7461636F, "OCFS2"},  FileSystem{0xAAD7AAEA, "PanFS"},  FileSystem{0x20030528, "OrangeFS"},
    FileSystem{0x01021997, "9P"},     // a host's folder in a virtual machine
    FileSystem{0x786F4256, "vboxsf"}, // likewise
    FileSystem{0xBACBACBC, "vmhgfs"}, // likewise
    FileSystem{0x65735546, "FUSE"},   // sshfs, virtiofs, or a local one: nobody can tell
};

} // namespace

std::string_view network_file_system(std::uint32_t type) {
  const auto* const found = std::find_if(network_file_systems.begin(), network_file_systems.end(),
                                         [&](const FileSystem& named) { return named.type == type; });
  return found == network_file_systems.end() ? std::string_view{} : found->name;
}

} // namespace gputest::policy
