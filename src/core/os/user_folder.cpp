// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/user_folder.hpp"

#include <filesystem>
#include <optional>
#include <set>
#include <system_error>

#include <charconv>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gputest::os {

namespace {

namespace fs = std::filesystem;

enum class Owner { nobody, this_user, another };

/// Files of one's own are another's, too: where the kernel allows it, others can link them here.
Owner owner_of(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    return Owner::nobody;
  }
  // In a user namespace, all users that it does not know have one id, which may be this user's.
  const bool is_open =
      (status.st_mode & S_IRWXU) != S_IRWXU || ::faccessat(AT_FDCWD, path.c_str(), R_OK | W_OK | X_OK, AT_EACCESS) == 0;
  return S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() && is_open ? Owner::this_user : Owner::another;
}

} // namespace

std::string user_folder() {
  const std::string above = "/tmp/";
  const auto usual = "gputest-" + std::to_string(::geteuid());
  const auto owner = owner_of(above + usual);
  if (owner == Owner::this_user) {
    return above + usual;
  }
  const auto prefix = usual + ".";
  std::set<unsigned> own;
  std::set<unsigned> taken;
  std::error_code error;
  for (fs::directory_iterator at{above, error}, end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename();
    unsigned number = 0;
    if (name.compare(0, prefix.size(), prefix) == 0) {
      std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number);
      if (name == prefix + std::to_string(number)) {
        (owner_of(above + name) == Owner::this_user ? own : taken).insert(number);
      }
    }
  }
  if (!own.empty()) {
    return above + prefix + std::to_string(*own.begin());
  }
  if (owner == Owner::nobody) {
    return above + usual;
  }
  unsigned number = 1;
  while (taken.count(number) != 0) {
    ++number;
  }
  return above + prefix + std::to_string(number);
}

} // namespace gputest::os
