// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/liveness_fifo.hpp"

#include "core/os/reason.hpp"

#include <gputest/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

namespace gputest::os {

LivenessFifo LivenessFifo::take(const FileAt& fifo) {
  if (LivenessWatch{fifo}.owner_lives()) {
    return LivenessFifo{};
  }
  // For both directions: for writing only it could not be opened while nobody reads.
  Descriptor file = fifo.open_or_make_fifo(O_RDWR);
  if (!file) {
    throw failure("open", fifo.path, errno);
  }
  return LivenessFifo{KeptDescriptor{std::move(file), fifo.path}};
}

void LivenessFifo::require_in_place(const FileAt& fifo) const {
  const auto seen = FileIdentity::at(fifo);
  if (seen ? !(*seen == file_.identity()) : errno == ENOENT) {
    require_kept();
    throw LedgerError{fifo.path + " was " + (seen ? "replaced" : "removed or renamed") +
                      " while this process used it, so that the others take this process for ended; let all GPU tests "
                      "end, and start them again"};
  }
}

void LivenessFifo::inherit_across_exec() {
  // Shell scripts open descriptors by numbers of their choice (`exec 9>lock`, `exec 200>&1`), which closes what has
  // them.
  constexpr int beyond_what_scripts_choose = 700;
  if (Descriptor high{::fcntl(file_.number(), F_DUPFD_CLOEXEC, beyond_what_scripts_choose)}) {
    file_ = KeptDescriptor{std::move(high), std::string{file_.path()}};
  } // else fewer are allowed
  ::fcntl(file_.number(), F_SETFD, 0);
}

LivenessWatch::LivenessWatch(const FileAt& fifo) {
  if (Descriptor file = fifo.open_or_make_fifo(O_RDONLY)) {
    file_ = KeptDescriptor{std::move(file), fifo.path};
  } else if (errno != ENOENT || fifo.is_own()) { // this user's can be made as long as its folder is there
    throw failure("watch", fifo.path, errno);
  }
}

bool LivenessWatch::owner_lives() const {
  if (!file_) {
    return false;
  }
  const int file = file_.number();
  for (;;) {
    char nothing = 0;
    const ssize_t count = ::read(file, &nothing, 1);
    if (count == 0) {
      return false; // nobody can write to it
    }
    if (count < 0 && errno == EAGAIN) {
      return true; // somebody can, and has not
    }
    if (count < 0 && errno != EINTR) {
      throw failure("probe", file_.path(), errno); // taken for alive, it would be waited for and never looked at again
    }
  }
}

} // namespace gputest::os
