// SPDX-License-Identifier: BSD-3-Clause
#include "policy/file_systems.hpp"

#include <algorithm>
#include <array>

namespace gputest::policy {

namespace {

struct Named {
  std::uint32_t type;
  std::string_view name;
};

/// From linux/magic.h and, if the kernel does not have them itself, from the file system's own sources.
constexpr std::array network_file_systems{
    Named{0x00006969, "NFS"},    Named{0x0000517B, "SMB"},    Named{0xFE534D42, "SMB"},
    Named{0xFF534D42, "CIFS"},   Named{0x5346414F, "AFS"},    Named{0x6B414653, "AFS"},
    Named{0x73757245, "Coda"},   Named{0x00C36400, "Ceph"},   Named{0x0BD00BD0, "Lustre"},
    Named{0x47504653, "GPFS"},   Named{0x19830326, "BeeGFS"}, Named{0x01161970, "GFS2"},
    Named{0x7461636F, "OCFS2"},  Named{0xAAD7AAEA, "PanFS"},  Named{0x20030528, "OrangeFS"},
    Named{0x01021997, "9P"},     // a host's folder in a virtual machine
    Named{0x786F4256, "vboxsf"}, // likewise
    Named{0xBACBACBC, "vmhgfs"}, // likewise
    Named{0x65735546, "FUSE"},   // sshfs, virtiofs, or a local one: nobody can tell
};

} // namespace

std::string_view network_file_system(std::uint32_t type) {
  const auto* const found = std::find_if(network_file_systems.begin(), network_file_systems.end(),
                                         [&](const Named& named) { return named.type == type; });
  return found == network_file_systems.end() ? std::string_view{} : found->name;
}

} // namespace gputest::policy
