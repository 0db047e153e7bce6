// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/shared_file.hpp"

#include "core/os/descriptor.hpp"
#include "core/os/reason.hpp"

#include <gputest/error.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

namespace gputest::os {

namespace {

/// To write beyond RLIMIT_FSIZE is not only an error: a signal ends the process, without a word.
void require_size_allowed(std::size_t size, const std::string& path) {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < size) {
    throw LedgerError{path + " needs " + std::to_string(size) + " bytes, and this process may write files of " +
                      std::to_string(limit.rlim_cur) + " bytes only (ulimit -f); raise the limit"};
  }
}

} // namespace

SharedFile::SharedFile(const FileAt& file) : owner_{file.owner} {
  Descriptor opened = file.open(file.is_own() ? O_RDWR : O_RDONLY, S_IFREG);
  if (!opened) {
    const int error = errno;
    const auto why = failure(file.is_own() ? "read and write" : "read", file.path, error);
    if (error == EWOULDBLOCK) {
      throw LedgerError{std::string{why.what()} +
                        ": a process of its owner's keeps a file lease on it (fcntl F_SETLEASE)" +
                        repair_of(file.owner)};
    }
    throw why;
  }
  file_ = KeptDescriptor{std::move(opened), file.path};
  if (file.is_own()) {
    require_size_allowed(size(), file.path);
  }
}

std::size_t SharedFile::size() const {
  struct stat status {};
  return ::fstat(file_.unchecked_number(), &status) == 0 ? static_cast<std::size_t>(status.st_size) : 0;
}

void SharedFile::read(std::size_t offset, void* data, std::size_t size) const {
  auto* const bytes = static_cast<std::byte*>(data);
  for (std::size_t done = 0; done < size;) { // at once, unless the kernel has reason to read less
    const ssize_t count =
        ::pread(file_.unchecked_number(), bytes + done, size - done, static_cast<off_t>(offset + done));
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (count == 0) {
      require_kept(); // a file of the test's own may be shorter
      throw LedgerError{path() + " is damaged: it ends after " + std::to_string(this->size()) +
                        " bytes, and has to have " + std::to_string(offset + size) + " at least" + repair_of(owner_)};
    } else if (const int error = errno; error != EINTR) {
      require_kept();
      throw failure("read", path(), error);
    }
  }
}

void SharedFile::write(std::size_t offset, const void* data, std::size_t size) {
  const int file = file_.number();
  const auto* const bytes = static_cast<const std::byte*>(data);
  for (std::size_t done = 0; done < size;) { // at once, unless the kernel has reason to write less
    const ssize_t written = ::pwrite(file, bytes + done, size - done, static_cast<off_t>(offset + done));
    if (written == 0 || (written < 0 && errno != EINTR)) {
      throw failure("write", path(), written < 0 ? errno : ENOSPC);
    }
    done += written > 0 ? static_cast<std::size_t>(written) : 0;
  }
}

void SharedFile::create(const FileAt& file, std::size_t size) {
  require_size_allowed(size, file.path);
  const Descriptor created = file.open(O_RDWR | O_CREAT, S_IFREG);
  if (!created || ::ftruncate(created.number(), 0) != 0) { // a killed process's beginning
    throw failure("create", file.path, errno);
  }
  int error = 0;
  do {
    error = size > 0 ? ::posix_fallocate(created.number(), 0, static_cast<off_t>(size)) : 0;
  } while (error == EINTR);
  if (error != 0) {
    throw failure("allocate " + std::to_string(size) + " bytes for", file.path, error);
  }
}

} // namespace gputest::os
