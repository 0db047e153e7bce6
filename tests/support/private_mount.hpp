// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sched.h>
#include <sys/mount.h>

#include <string>

namespace gputest::tests {

/// Gives this process, a child of the test, a tmpfs of its own at `path`, which nobody else sees. Whether it may.
inline bool mount_private_tmpfs(const std::string& path, const std::string& options) {
  return ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("gputest", path.c_str(), "tmpfs", 0, options.c_str()) == 0;
}

constexpr int may_not_mount = 253; ///< exit status of a child that needed to

} // namespace gputest::tests
