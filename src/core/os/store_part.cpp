// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/store_part.hpp"

#include "core/os/reason.hpp"

#include <gputest/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

namespace gputest::os {

namespace {

constexpr mode_t own_folder = 0700;
constexpr mode_t shared_folder = 02750; // setgid: what is made in it is of the group
constexpr mode_t own_file = 0600;
constexpr mode_t readable_file = 0640;
constexpr mode_t writable_file = 0660;

bool is_shared(const FileAt& place) { return place.mode == shared_folder; }

/// Whether a file system has no RENAME_NOREPLACE: ZFS before 2.2, 9p, and what a sandbox emulates.
bool cannot_rename_without_replacing(int error) { return error == EINVAL || error == ENOSYS; }

/// Makes the folder of a part, under another name first, since a umask may take off what others need to read it, and
/// the process may be killed before it has put that right. Whether it is there then, with errno as it is after
/// rename(2). Any step fails with ENOENT if another process of this user has just renamed or removed what both were
/// making.
bool make_folder(const FileAt& place) {
  FileAt beginning = place;
  beginning.name = "beginning." + place.name;
  beginning.path.replace(beginning.path.size() - place.name.size(), std::string::npos, beginning.name);
  if (::mkdirat(place.folder, beginning.name.c_str(), place.mode) != 0 && errno != EEXIST) {
    throw failure("make the folder", place.path, errno);
  }
  const bool made =
      beginning.open(O_RDONLY | O_DIRECTORY, S_IFDIR) && // another user may have taken the name
      ::fchmodat(place.folder, beginning.name.c_str(), place.mode, AT_SYMLINK_NOFOLLOW) == 0 &&
      ::renameat2(place.folder, beginning.name.c_str(), place.folder, place.name.c_str(), RENAME_NOREPLACE) == 0;
  if (!made) {
    const int error = errno;
    ::unlinkat(place.folder, beginning.name.c_str(), AT_REMOVEDIR);
    if (cannot_rename_without_replacing(error)) {
      return ::mkdirat(place.folder, place.name.c_str(), place.mode) == 0 &&
             ::fchmodat(place.folder, place.name.c_str(), place.mode, AT_SYMLINK_NOFOLLOW) == 0;
    }
    errno = error;
  }
  return made;
}

} // namespace

FileAt StorePart::place(const LedgerFolder& folder, const std::string& name, uid_t owner) {
  return folder.is_shared() ? folder.at(name + "." + std::to_string(owner), owner, shared_folder)
                            : folder.at(name, owner, own_folder);
}

Descriptor StorePart::open_or_make_folder(const FileAt& place) {
  constexpr int max_tries = 1000; // each is in vain only if another process of this user was faster
  for (int tries = 0; tries < max_tries; ++tries) {
    Descriptor folder = place.open(O_RDONLY | O_DIRECTORY, S_IFDIR);
    if (folder) {
      return folder;
    }
    if (errno != ENOENT) {
      throw failure("open the folder", place.path, errno);
    }
    if (!make_folder(place) && errno != EEXIST && errno != ENOENT) {
      throw failure("make the folder", place.path, errno);
    }
  }
  throw failure("make the folder", place.path, ENOENT);
}

std::optional<StorePart> StorePart::open(const FileAt& place, const Layout& layout) {
  Descriptor folder = place.open(O_RDONLY | O_DIRECTORY, S_IFDIR);
  if (!folder) {
    if (errno == ENOENT) {
      return std::nullopt;
    }
    throw failure("open the folder", place.path, errno);
  }
  const FileAt ledger{folder.number(), place.path, "ledger", place.owner, own_file};
  if (!FileIdentity::at(ledger) && errno == ENOENT) {
    return std::nullopt;
  }
  SlotFile file{ledger, layout};
  return StorePart{place, std::move(folder), std::move(file)};
}

StorePart StorePart::make(const FileAt& place, const Layout& layout) {
  const Descriptor folder = open_or_make_folder(place);
  const mode_t mode = is_shared(place) ? readable_file : own_file;
  const FileAt beginning{folder.number(), place.path, "beginning", place.owner, mode};
  try {
    SlotFile::create(beginning, layout);
    // Never over another one: it may be in use. Only this user's processes make one here, each under the mutex.
    const auto is_missing = [&] { return ::faccessat(folder.number(), "ledger", F_OK, AT_SYMLINK_NOFOLLOW) != 0; };
    if (::renameat2(folder.number(), "beginning", folder.number(), "ledger", RENAME_NOREPLACE) != 0 &&
        !(cannot_rename_without_replacing(errno) && is_missing() &&
          ::renameat(folder.number(), "beginning", folder.number(), "ledger") == 0)) {
      throw failure("rename a new ledger to", place.path + "/ledger", errno);
    }
  } catch (const LedgerError&) {
    ::unlinkat(folder.number(), "beginning", 0);
    throw;
  }
  auto made = open(place, layout);
  if (!made) {
    throw failure("open the new ledger", place.path + "/ledger", ENOENT);
  }
  return std::move(*made);
}

StorePart::StorePart(const FileAt& place, Descriptor folder, SlotFile file)
    : owner_{place.owner}, shared_{is_shared(place)}, folder_{std::move(folder), place.path}, file_{std::move(file)} {}

FileAt StorePart::wake_fifo(std::size_t slot) const {
  return {folder_.number(), folder_.path(), "wake." + std::to_string(slot), owner_, shared_ ? writable_file : own_file};
}

FileAt StorePart::liveness_fifo(std::size_t slot) const {
  return {folder_.number(), folder_.path(), "alive." + std::to_string(slot), owner_,
          shared_ ? readable_file : own_file};
}

} // namespace gputest::os
