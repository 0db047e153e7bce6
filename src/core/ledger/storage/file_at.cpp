// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/storage/file_at.hpp"

#include "core/os/file.hpp"
#include "core/os/host.hpp"

#include <gputest/error.hpp>

#include <array>
#include <cerrno>
#include <climits>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

namespace gputest::os {

namespace {

const char* type_in_words(mode_t type) {
  switch (type & S_IFMT) {
  case S_IFDIR:
    return "a folder";
  case S_IFREG:
    return "a regular file";
  case S_IFIFO:
    return "a FIFO";
  default:
    return "a special file";
  }
}

FileIdentity identity_in(const struct stat& status) {
  return {status.st_dev, status.st_ino, static_cast<mode_t>(status.st_mode & S_IFMT)};
}

} // namespace

std::string repair_of(uid_t owner) {
  return owner == ::geteuid()
             ? "; when no GPU test is running, remove the ledger's folder, or set GPUTEST_DIR to another one"
             : "; " + user_name(owner) + " or an administrator has to remove it, or set GPUTEST_DIR to another folder";
}

FileAt::FileAt(const std::string& file)
    : folder{AT_FDCWD}, name{file}, path{file}, owner{::geteuid()}, mode{S_IRUSR | S_IWUSR} {}

FileAt::FileAt(int in, const std::string& in_path, const std::string& called, uid_t of, mode_t as)
    : folder{in}, name{called}, path{in_path + "/" + called}, owner{of}, mode{as} {}

FileAt FileAt::nothing() { return {-1, "", "", static_cast<uid_t>(-1), 0}; }

bool FileAt::is_own() const { return owner == ::geteuid(); }

Descriptor FileAt::open(int flags, mode_t type) const {
  if (folder == -1) {
    errno = ENOENT;
    return {};
  }
  const auto try_to_open = [&] {
    return Descriptor{::openat(folder, name.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode)};
  };
  const bool gives_mode = is_own() && ((flags & O_CREAT) != 0 || type == S_IFIFO);
  Descriptor file = try_to_open();
  if (!file && errno == EACCES && gives_mode) { // the umask of whoever made it took off what its owner needs
    const int refused = errno;
    if (::fchmodat(folder, name.c_str(), mode, AT_SYMLINK_NOFOLLOW) == 0) {
      file = try_to_open();
    } else {
      errno = refused;
    }
  }
  struct stat status {};
  if (!file) {
    const int error = errno;
    const bool is_of_another_type = error == ELOOP || error == ENOTDIR || error == EISDIR || error == ENXIO;
    if ((is_of_another_type || error == EACCES) && ::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
      require_owner(status.st_uid);
    }
    if (is_of_another_type) {
      throw LedgerError{path + " is " + in_words(error) + ", and must be " + type_in_words(type) + repair_of(owner)};
    }
    errno = error;
    return file;
  }
  if (::fstat(file.number(), &status) != 0) {
    return {};
  }
  require_owner(status.st_uid);
  if ((status.st_mode & S_IFMT) != type) {
    throw LedgerError{path + " is " + type_in_words(status.st_mode) + ", and must be " + type_in_words(type) +
                      repair_of(owner)};
  }
  if (type != S_IFDIR && status.st_nlink > 1) {
    throw LedgerError{path + " has " + std::to_string(status.st_nlink) +
                      " names (hard links), and must have one: it is not used" + repair_of(owner)};
  }
  if (gives_mode && (status.st_mode & permission_bits) != mode && ::fchmod(file.number(), mode) != 0) {
    return {};
  }
  return file;
}

/// Whoever has taken the name is the one who can free it, whatever stands there.
void FileAt::require_owner(uid_t found) const {
  if (found != owner) {
    throw LedgerError{path + " belongs to " + user_name(found) + " (uid " + std::to_string(found) +
                      "), and must belong to " + user_name(owner) + " (uid " + std::to_string(owner) +
                      "): it is not used" + repair_of(found)};
  }
}

Descriptor FileAt::open_or_make_fifo(int flags) const {
  Descriptor file = open(flags, S_IFIFO);
  if (!file && errno == ENOENT && is_own() && (::mkfifoat(folder, name.c_str(), mode) == 0 || errno == EEXIST)) {
    file = open(flags, S_IFIFO);
  }
  return file;
}

std::string FileAt::in_words(int error) const {
  struct stat status {};
  if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return error == ENOENT ? "missing" : "out of reach (" + reason(error) + ")";
  }
  if (!S_ISLNK(status.st_mode)) {
    return type_in_words(status.st_mode);
  }
  std::array<char, PATH_MAX> target{};
  const ssize_t length = ::readlinkat(folder, name.c_str(), target.data(), target.size());
  return "a symbolic link to " + std::string{target.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
}

std::optional<FileIdentity> FileIdentity::of(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 ? std::optional{identity_in(status)} : std::nullopt;
}

std::optional<FileIdentity> FileIdentity::at(const FileAt& file) { return at(file.folder, file.name); }

std::optional<FileIdentity> FileIdentity::at(int folder, const std::string& name) {
  struct stat status {};
  return ::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 ? std::optional{identity_in(status)}
                                                                            : std::nullopt;
}

void require_kept(int descriptor, const FileIdentity& identity, const std::string& path) {
  const auto now = FileIdentity::of(descriptor);
  if (!now || !(*now == identity)) {
    throw LedgerError{"file descriptor " + std::to_string(descriptor) + ", which gputest keeps open for " + path +
                      ", was closed by something else in this process" + (now ? ", and is another file's now" : "") +
                      "; a test must close no descriptors but its own (not all from 3 on, and none of its own twice)"};
  }
}

KeptDescriptor::KeptDescriptor(Descriptor file, std::string path, Where /*where*/)
    : file_{std::move(file)}, identity_{FileIdentity::of(file_.number()).value_or(FileIdentity{})}, path_{std::move(
                                                                                                        path)} {}

KeptDescriptor& KeptDescriptor::operator=(KeptDescriptor&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(identity_, other.identity_);
  std::swap(path_, other.path_);
  return *this;
}

KeptDescriptor::~KeptDescriptor() {
  if (file_ && is_lost()) {
    static_cast<void>(file_.release());
  }
}

int KeptDescriptor::number() const {
  require_kept(file_.number(), identity_, path_);
  return file_.number();
}

bool KeptDescriptor::is_removed() const {
  struct stat status {};
  return ::fstat(file_.number(), &status) == 0 && status.st_nlink == 0 && identity_in(status) == identity_;
}

bool KeptDescriptor::lacks(const std::string& name, const FileIdentity& file) const {
  const auto seen = FileIdentity::at(file_.number(), name);
  return (seen ? !(*seen == file) : errno == ENOENT || errno == ENOTDIR) && !is_lost();
}

bool KeptDescriptor::is_lost() const {
  const auto now = FileIdentity::of(file_.number());
  return !now || !(*now == identity_);
}

} // namespace gputest::os
