// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/os/file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace gputest::tests {

/// Holds a mutex between processes as somebody else would, unless somebody has it already.
class LockHolder {
public:
  explicit LockHolder(const std::string& path) : file_{::open(path.c_str(), O_RDWR | O_CLOEXEC)} {
    struct flock whole {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    if (!file_) {
      throw std::system_error{errno, std::generic_category(), "cannot open " + path};
    }
    holds_ = ::fcntl(file_.number(), F_SETLK, &whole) == 0;
  }

  explicit operator bool() const { return holds_; }

private:
  os::Descriptor file_;
  bool holds_ = false;
};

/// Whether `process` holds a mutex between processes.
inline bool holds_mutex(pid_t process, const std::string& path) {
  const os::Descriptor file{::open(path.c_str(), O_RDWR | O_CLOEXEC)};
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return file && ::fcntl(file.number(), F_GETLK, &whole) == 0 && whole.l_type != F_UNLCK && whole.l_pid == process;
}

} // namespace gputest::tests
