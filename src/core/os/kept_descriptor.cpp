// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/kept_descriptor.hpp"

#include <gputest/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

namespace gputest::os {

namespace {

FileIdentity identity_in(const struct stat& status) {
  return {status.st_dev, status.st_ino, static_cast<mode_t>(status.st_mode & S_IFMT)};
}

} // namespace

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

KeptDescriptor::KeptDescriptor(Descriptor file, std::string path)
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
