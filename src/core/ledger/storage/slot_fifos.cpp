// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/storage/slot_fifos.hpp"

#include "core/os/cancellation.hpp"
#include "core/os/file.hpp"
#include "core/os/kernel_clock.hpp"
#include "core/os/process.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

namespace gputest::os {

namespace {

/// None if the FIFO is not there.
Descriptor open_to_watch(const FileAt& fifo) {
  Descriptor file = fifo.open_or_make_fifo(O_RDONLY);
  if (!file && (errno != ENOENT || fifo.is_own())) { // this user's can be made as long as its folder is there
    throw failure("watch", fifo.path, errno);
  }
  return file;
}

bool has_writer(int file, const std::string& path) {
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
      throw failure("probe", path, errno); // taken for alive, it would be waited for and never looked at again
    }
  }
}

} // namespace

bool owner_lives(const FileAt& fifo) {
  const Descriptor file = open_to_watch(fifo);
  return file && has_writer(file.number(), fifo.path);
}

LivenessFifo LivenessFifo::take(const FileAt& fifo) {
  if (os::owner_lives(fifo)) {
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

void LivenessFifo::inherit_across_exec() { ::fcntl(file_.number(), F_SETFD, 0); }

bool is_inherited(const FileAt& fifo) {
  const auto identity = FileIdentity::at(fifo);
  const std::unique_ptr<DIR, int (*)(DIR*)> open{::opendir("/proc/self/fd"), ::closedir};
  for (const dirent* entry = nullptr; identity && open && (entry = ::readdir(open.get())) != nullptr;) {
    const int number = std::atoi(entry->d_name); // NOLINT(cert-err34-c): `.` and `..` are 0
    const int flags = ::fcntl(number, F_GETFD);  // not what a session of this process has
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0 && FileIdentity::of(number) == identity) {
      return true;
    }
  }
  return false;
}

std::optional<pid_t> process_with(const FileAt& fifo) {
  const auto identity = FileIdentity::at(fifo);
  const auto all = identity ? all_other_processes() : std::vector<pid_t>{};
  const auto found = std::find_if(all.begin(), all.end(), [&](pid_t pid) {
    return has_open(pid, {{identity->device, identity->inode}}).value_or(false);
  });
  return found == all.end() ? std::nullopt : std::optional{*found};
}

LivenessWatch::LivenessWatch(const FileAt& fifo) {
  if (Descriptor file = open_to_watch(fifo)) {
    file_ = KeptDescriptor{std::move(file), fifo.path, KeptDescriptor::Where::it_is};
  }
}

bool LivenessWatch::owner_lives() const { return file_ && has_writer(file_.number(), file_.path()); }

namespace {

/// The descriptor that is kept back for notify(), of a folder that there is always.
struct Spare {
  std::mutex threads; ///< in a forked child it may be locked for ever, by a thread that only the parent has: try_lock()
  bool wanted = false; ///< since this process has a wake-up FIFO
  KeptDescriptor file;

  void make() {
    if (wanted && !file) {
      if (Descriptor opened{::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)}) {
        file = KeptDescriptor{std::move(opened), "the next one that it has to wake", KeptDescriptor::Where::it_is};
      }
    }
  }
};

Spare& spare() {
  static Spare& spare =
      *new Spare; // NOLINT(cppcoreguidelines-owning-memory): globals may notify when they are destroyed
  return spare;
}

Descriptor open_to_notify(const FileAt& fifo, bool has_spare) {
  // For both directions: if only for writing, SIGPIPE would end this process where the owner is killed before the
  // write.
  Descriptor file = fifo.open(O_RDWR, S_IFIFO);
  if (!file && (errno == EMFILE || errno == ENFILE) && has_spare && spare().file) {
    spare().file = KeptDescriptor{};
    file = fifo.open(O_RDWR, S_IFIFO);
  }
  return file;
}

} // namespace

WakeFifo::WakeFifo(const FileAt& fifo) {
  Descriptor file =
      fifo.open_or_make_fifo(O_RDWR); // for both directions: a reader alone would see every notifier hang up
  if (!file) {
    throw failure("open", fifo.path, errno);
  }
  file_ = KeptDescriptor{std::move(file), fifo.path};
  if (const std::unique_lock guard{spare().threads, std::try_to_lock}) {
    spare().wanted = true;
    spare().make();
  }
}

void WakeFifo::drain() const {
  const int file = file_.number();
  std::array<char, 256> rings{};
  while (::read(file, rings.data(), rings.size()) == static_cast<ssize_t>(rings.size())) {
  }
}

bool WakeFifo::is_notified() const {
  int bytes = 0;
  if (::ioctl(file_.unchecked_number(), FIONREAD, &bytes) != 0) {
    const int error = errno;
    require_kept();
    throw failure("look at", path(), error);
  }
  return bytes > 0;
}

void notify(const FileAt& fifo) {
  const std::unique_lock has_spare{spare().threads, std::try_to_lock}; // a thread at a time notifies, under the mutex
  try {
    const Descriptor file = open_to_notify(fifo, has_spare.owns_lock());
    if (!file && errno == ENOENT && !fifo.is_own()) {
      return; // another user has removed its own: that is no reason to give up a place
    }
    const char one = 1;
    if (!file || (::write(file.number(), &one, 1) < 0 && errno != EAGAIN)) {
      throw CannotNotify{"cannot wake the owner of " + fifo.path + ": " + reason(errno)};
    }
  } catch (const CannotNotify&) {
    throw;
  } catch (const LedgerError& error) { // it is no FIFO, or another user's
    if (!fifo.is_own()) {
      return;
    }
    throw CannotNotify{"cannot wake the owner of " + fifo.path + ": " + error.what()};
  }
  if (has_spare) {
    spare().make();
  }
}

Woken wait(const WakeFifo& own, const std::vector<LivenessWatch>& watched, std::chrono::milliseconds at_most) {
  std::vector<pollfd> files;
  files.reserve(1 + watched.size());
  files.push_back({own.number(), POLLIN, 0});
  for (const auto& watch : watched) {
    files.push_back({watch.number(), 0, 0}); // no events: only the hang-up is reported
  }
  constexpr auto for_ever = KernelClock::duration::max();
  const bool has_limit = at_most < std::chrono::duration_cast<std::chrono::milliseconds>(for_ever);
  const auto limit = has_limit ? KernelClock::duration{at_most} : for_ever;
  auto left = limit;
  const auto begun = KernelClock::now();
  const int ready = [&] {
    const CancellationHeldBack::LetThrough here;
    return KernelClock::poll(files.data(), files.size(), left);
  }();
  if (ready < 0 && errno != EINTR) {
    throw failure("wait at", own.path(), errno); // not looked again at once, without end
  }
  Woken woken;
  woken.slept = has_limit ? limit - left : KernelClock::now() - begun;
  if (ready > 0) {
    woken.notified = files.front().revents != 0;
    for (std::size_t i = 0; i < watched.size(); ++i) {
      if (files[1 + i].revents != 0) {
        woken.ended.push_back(i);
      }
    }
  }
  return woken;
}

} // namespace gputest::os
