// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/shared_pages.hpp"

#include "core/os/reason.hpp"

#include <gputest/error.hpp>

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gputest::os {

namespace {

Descriptor make_file(std::size_t size) {
  Descriptor file{::memfd_create("gputest-shared", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  if (!file || ::ftruncate(file.number(), static_cast<off_t>(size)) != 0 ||
      ::fcntl(file.number(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    throw Error{"no memory can be made that the processes of the command share: " + reason(errno)};
  }
  return file;
}

bool is_sealed(const Descriptor& file, std::size_t size) {
  struct stat status {};
  const int seals = ::fcntl(file.number(), F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && ::fstat(file.number(), &status) == 0 &&
         status.st_size == static_cast<off_t>(size);
}

} // namespace

SharedPages::SharedPages(Descriptor file, std::size_t size) : file_{std::move(file)}, size_{size} {
  void* const data = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file_.number(), 0);
  if (data == MAP_FAILED) { // NOLINT(performance-no-int-to-ptr,cppcoreguidelines-pro-type-cstyle-cast): POSIX's own
    throw Error{"memory that the processes of the command share cannot be mapped: " + reason(errno)};
  }
  data_ = data;
}

SharedPages::SharedPages(std::size_t size) : SharedPages{make_file(size), size} {}

std::optional<SharedPages> SharedPages::open(const std::string& path, std::size_t size) {
  Descriptor file{::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK)};
  if (!file || !is_sealed(file, size)) {
    return std::nullopt;
  }
  SharedPages pages{std::move(file), size};
  pages.file_ = Descriptor{}; // a test may close it, and a file of the test's may get its number
  return pages;
}

SharedPages::SharedPages(SharedPages&& other) noexcept
    : file_{std::move(other.file_)}, size_{other.size_}, data_{std::exchange(other.data_, nullptr)} {}

SharedPages::~SharedPages() {
  if (data_ != nullptr) {
    ::munmap(data_, size_);
  }
}

bool SharedPages::is_locked() const {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return ::fcntl(file_.number(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

std::string SharedPages::path() const {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(file_.number());
}

} // namespace gputest::os
