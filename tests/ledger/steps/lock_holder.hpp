#pragma once

#include "system/descriptor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace gputest::tests {

/// Holds a mutex between processes as somebody else would.
class LockHolder {
public:
  explicit LockHolder(const std::string& path) : file_{::open(path.c_str(), O_RDWR | O_CLOEXEC)} {
    struct flock whole {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    if (!file_ || ::fcntl(file_.number(), F_SETLKW, &whole) != 0) {
      throw std::system_error{errno, std::generic_category(), "cannot lock " + path};
    }
  }

private:
  system::Descriptor file_;
};

} // namespace gputest::tests
