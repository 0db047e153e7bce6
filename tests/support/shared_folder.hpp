// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace gputest::tests {

constexpr uid_t nobody = 65534;         ///< a member of the group, by become_nobody()
constexpr uid_t another_member = 54321; ///< a uid that nothing else has; in the group by become_member()
constexpr gid_t members = 65534;

/// Makes a ledger's folder as an administrator does: root's, for a group. Only as root.
inline void make_shared_folder(const std::string& path) {
  const std::string mutex = path + "/mutex";
  const bool made =
      ::mkdir(path.c_str(), 0700) == 0 && ::chown(path.c_str(), 0, members) == 0 && ::chmod(path.c_str(), 03770) == 0;
  const int file = made ? ::open(mutex.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0660) : -1;
  if (file < 0 || ::fchown(file, 0, members) != 0 || ::fchmod(file, 0660) != 0 || ::close(file) != 0) {
    throw std::system_error{errno, std::generic_category(), "cannot make the shared folder " + path};
  }
}

/// Makes this process, a child of the test, one of that user, in the group of shared folders.
inline void become_member(uid_t user) {
  if (::setgroups(0, nullptr) != 0 || ::setgid(members) != 0 || ::setuid(user) != 0) {
    ::_exit(254);
  }
}

} // namespace gputest::tests
