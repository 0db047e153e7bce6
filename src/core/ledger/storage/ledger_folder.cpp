// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/storage/ledger_folder.hpp"

#include "core/ledger/storage/file_lock.hpp"
#include "core/os/file.hpp"
#include "core/os/host.hpp"
#include "core/os/user_folder.hpp"

#include <gputest/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

namespace gputest::os {

namespace fs = std::filesystem;

namespace {

constexpr const char* shared_path = "/run/gputest";
constexpr mode_t private_mode = 0700;
constexpr mode_t shared_mode = 03770; // members add files; setgid: of the group; sticky: nobody removes another's

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

std::string octal(mode_t mode) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%04o", static_cast<unsigned>(mode & permission_bits));
  return text.data();
}

/// Setgid alone is no mark of it: a folder that root makes below one that is setgid is so, too.
bool looks_shared(const struct stat& status) {
  constexpr mode_t of_a_group = S_ISGID | S_IWGRP;
  return status.st_uid == 0 && ((status.st_mode & S_ISVTX) != 0 || (status.st_mode & of_a_group) == of_a_group);
}

/// What is wrong with a folder; empty if it can be used.
std::string problem(const struct stat& status, bool is_default_private) {
  if (looks_shared(status)) {
    return (status.st_mode & permission_bits) == shared_mode
               ? ""
               : "has the mode " + octal(status.st_mode) + ", and a shared one must have " + octal(shared_mode) +
                     " (docs/guides/shared-machines.md): it is not used. For a ledger of your own, set GPUTEST_DIR to "
                     "a folder that you own, and type chmod 00700 for it";
  }
  if (status.st_uid != ::geteuid()) {
    return "belongs to " + user_name(status.st_uid) + " (uid " + std::to_string(status.st_uid) + "), and not to " +
           user_name(::geteuid()) + " (uid " + std::to_string(::geteuid()) +
           "): it is not used. An administrator can remove it; or set GPUTEST_DIR to a folder of your own";
  }
  const mode_t nobodys = is_default_private ? S_IRWXG | S_IRWXO : S_IWGRP | S_IWOTH;
  if ((status.st_mode & nobodys) != 0) {
    return "has the mode " + octal(status.st_mode) + ", with which others can " +
           (is_default_private ? "reach" : "change") +
           " what is in it: it is not used. Look what others have put there, "
           "and chmod it to 0700; or set GPUTEST_DIR to another folder";
  }
  if ((status.st_mode & S_IRWXU) != S_IRWXU) {
    return "has the mode " + octal(status.st_mode) +
           ", with which its owner cannot use it; chmod it to 0700, or set GPUTEST_DIR to another folder";
  }
  return "";
}

LedgerError failure_here(const std::string& to_do, const std::string& path, int error) {
  const bool has_advice = error == EMFILE || error == ENFILE;
  return LedgerError{failure(to_do, path, error).what() +
                     std::string{has_advice ? "" : "; set GPUTEST_DIR to a folder of your own on a local file system"}};
}

/// The folder that `path` is in, made if it is not there, and its name there.
std::pair<Descriptor, std::string> open_parent_of(fs::path path) {
  if (path.filename().empty()) { // ends with a slash
    path = path.parent_path();
  }
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path{"."};
  if (const auto error = make_folders(parent)) {
    throw failure_here("make the folder", parent, error.value());
  }
  Descriptor opened{::open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!opened) {
    throw failure_here("open the folder", parent, errno);
  }
  return {std::move(opened), path.filename()};
}

} // namespace

std::string_view network_file_system(std::uint32_t type) {
  const auto* const found = std::find_if(network_file_systems.begin(), network_file_systems.end(),
                                         [&](const FileSystem& named) { return named.type == type; });
  return found == network_file_systems.end() ? std::string_view{} : found->name;
}

LedgerFolder::LedgerFolder(const std::string& path) {
  auto [parent, name] = open_parent_of(path);
  const FileAt place{parent.number(), fs::path{path}.parent_path(), name, ::geteuid(), private_mode};
  const auto open = [&, &at = parent, &named = name] { // not FileAt::open(): it may be root's
    return Descriptor{::openat(at.number(), named.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  };
  Descriptor folder = open();
  if (!folder && errno == ENOENT) {
    const bool made = ::mkdirat(parent.number(), name.c_str(), private_mode) == 0;
    if (made ? ::fchmodat(parent.number(), name.c_str(), private_mode, AT_SYMLINK_NOFOLLOW) != 0 // whatever the umask
             : errno != EEXIST) {
      throw failure_here("make the folder", path, errno);
    }
    folder = open();
  }
  struct stat status {};
  if (!folder) {
    const int error = errno;
    if (error == ELOOP || error == ENOTDIR) {
      throw LedgerError{path + " is not a folder, but " + place.in_words(error) +
                        ": it is not used; remove it, or set GPUTEST_DIR to a folder of your own"};
    }
    // Of another user's there is more to say than that it is closed.
    const bool seen = ::fstatat(parent.number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
    const auto why = seen ? problem(status, path == user_folder()) : "";
    throw why.empty() ? failure_here("open the folder", path, error) : LedgerError{path + " " + why};
  }
  if (::fstat(folder.number(), &status) != 0) {
    throw failure_here("look at the folder", path, errno);
  }
  if (const auto why = problem(status, path == user_folder()); !why.empty()) {
    throw LedgerError{path + " " + why};
  }
  shared_ = looks_shared(status);
  // What removes old files from /tmp leaves out a folder that somebody has locked. Whoever can open a folder can lock
  // it for ever, so one that others can open is not locked; nothing is removed from a shared one.
  is_locked_ = shared_ || (status.st_mode & (S_IRGRP | S_IROTH)) != 0 || try_share(folder.number(), path);
  folder_ = KeptDescriptor{std::move(folder), path};
  parent_ = KeptDescriptor{std::move(parent), fs::path{path}.parent_path()};
  name_ = name;
}

void LedgerFolder::lock() {
  if (!is_locked_) {
    share(folder_.number(), path());
    is_locked_ = true;
  }
}

FileAt LedgerFolder::at(const std::string& name, uid_t owner, mode_t mode) const {
  return {folder_.number(), path(), name, owner, mode};
}

void LedgerFolder::refuse_network() const {
  struct statfs status {};
  if (::fstatfs(number(), &status) != 0) {
    return;
  }
  // The word is signed and of 64 bits here; types have 32.
  if (const auto name = network_file_system(static_cast<std::uint32_t>(status.f_type)); !name.empty()) {
    throw LedgerError{"a ledger cannot be in " + path() + ", which is on " + std::string{name} +
                      ": locks and FIFOs there need not hold between machines; set GPUTEST_DIR to a folder of your own "
                      "on a local file system"};
  }
}

std::string ledger_folder(const std::string& setting, const std::string& devices) {
  if (!setting.empty()) {
    return setting;
  }
  if (devices.compare(0, 10, "simulated:") == 0) {
    return user_folder();
  }
  struct stat status {};
  if (::lstat(shared_path, &status) != 0) {
    return user_folder();
  }
  const auto why = !S_ISDIR(status.st_mode) ? "is not a folder, and a shared one must be one"
                   : !looks_shared(status)
                       ? "must belong to root and have the mode " + octal(shared_mode) + " (it has " +
                             octal(status.st_mode) + ", and belongs to " + user_name(status.st_uid) + ")"
                       : problem(status, false);
  if (!why.empty()) {
    throw LedgerError{std::string{shared_path} + ", where this machine's shared ledger is, " + why +
                      "; an administrator has to make it anew (docs/guides/shared-machines.md), or set GPUTEST_DIR to "
                      "a folder of your own"};
  }
  return ::faccessat(AT_FDCWD, shared_path, R_OK | W_OK | X_OK, AT_EACCESS) == 0 ? shared_path : user_folder();
}

std::string private_folder(const std::string& setting) {
  struct stat status {};
  const bool usable = !setting.empty() && (::stat(setting.c_str(), &status) != 0 || !looks_shared(status));
  return usable ? setting : user_folder();
}

bool has_store(const std::string& folder, const std::string& name) {
  struct stat status {};
  if (::lstat(folder.c_str(), &status) != 0) {
    if (errno == ENOENT) {
      return false;
    }
    throw LedgerError{"cannot look into the ledger's folder '" + folder + "': " + reason(errno) +
                      "; it has to be readable for this user, or give another one in GPUTEST_DIR"};
  }
  const LedgerFolder opened{folder};
  return opened.is_shared() || ::fstatat(opened.number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

} // namespace gputest::os
