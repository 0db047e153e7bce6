// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace gputest::tests {

/// An object that several processes see at once, since it lies in a file they map. A new one is all zero.
template <class Object>
class SharedObject {
public:
  /// Maps the file at `path`, and makes it if there is none.
  explicit SharedObject(const std::string& path) : file_{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)} {
    void* address = MAP_FAILED;
    if (file_ >= 0 && ::ftruncate(file_, sizeof(Object)) == 0) {
      address = ::mmap(nullptr, sizeof(Object), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    }
    if (address == MAP_FAILED) {
      throw std::system_error{errno, std::generic_category(), "cannot map " + path};
    }
    object_ = static_cast<Object*>(address);
  }
  SharedObject(const SharedObject&) = delete;
  SharedObject& operator=(const SharedObject&) = delete;
  ~SharedObject() {
    ::munmap(object_, sizeof(Object));
    ::close(file_);
  }

  [[nodiscard]] Object* operator->() const { return object_; }

  /// Descriptor of the file, to lock it.
  [[nodiscard]] int file() const { return file_; }

private:
  int file_ = -1;
  Object* object_ = nullptr;
};

} // namespace gputest::tests
