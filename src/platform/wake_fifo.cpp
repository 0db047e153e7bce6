#include "platform/wake_fifo.hpp"

#include "platform/reason.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <limits>
#include <mutex>

namespace gputest::platform {

namespace {

LedgerError failure(const std::string& what, const std::string& path) {
  return LedgerError{"cannot " + what + " " + path + ": " + reason(errno)};
}

/// Calls flock() until no signal interrupts it. Returns whether it got the lock; errno says why not.
bool lock_file(int file, int operation) {
  int result = 0;
  do {
    result = ::flock(file, operation);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

/// Opens the FIFO. Creates it if it is this user's and missing. Empty if the kernel refuses: errno says why.
Descriptor open_or_make(const FileAt& fifo, int flags) {
  Descriptor file = fifo.open(flags, S_IFIFO);
  if (!file && errno == ENOENT && fifo.is_own() &&
      (::mkfifoat(fifo.folder, fifo.name.c_str(), fifo.mode) == 0 || errno == EEXIST)) {
    file = fifo.open(flags, S_IFIFO);
  }
  return file;
}

/// The descriptor that is kept back for notify(), of a folder that there is always.
struct Spare {
  std::mutex threads;
  bool wanted = false; ///< since this process has a wake-up FIFO
  KeptDescriptor file;

  void make() {
    if (wanted && !file) {
      if (Descriptor opened{::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)}) {
        file = KeptDescriptor{std::move(opened), "the next one that it has to wake"};
      }
    }
  }
};

Spare& spare() {
  static Spare& spare =
      *new Spare; // NOLINT(cppcoreguidelines-owning-memory): globals may notify when they are destroyed
  return spare;
}

Descriptor open_to_notify(const FileAt& fifo) {
  // For both directions: if only for writing, SIGPIPE would end this process where the owner is killed before the
  // write.
  Descriptor file = fifo.open(O_RDWR, S_IFIFO);
  if (!file && (errno == EMFILE || errno == ENFILE) && spare().file) {
    spare().file = KeptDescriptor{};
    file = fifo.open(O_RDWR, S_IFIFO);
  }
  return file;
}

} // namespace

WakeFifo WakeFifo::take(const FileAt& fifo) {
  // Open for both directions: the write end, held until the owner and its forked children have ended, is what watchers
  // see go away.
  Descriptor file = open_or_make(fifo, O_RDWR);
  if (!file) {
    throw failure("open", fifo.path);
  }
  if (!lock_file(file.number(), LOCK_EX | LOCK_NB)) {
    if (errno == EWOULDBLOCK) {
      return WakeFifo{};
    }
    throw failure("lock", fifo.path);
  }
  if (::fchmod(file.number(), fifo.mode) != 0) { // the creator's umask has removed bits
    throw failure("open to those who share", fifo.path);
  }
  // Not lock(): in a forked child it may be locked for ever, by a thread that only the parent has.
  if (const std::unique_lock guard{spare().threads, std::try_to_lock}) {
    spare().wanted = true;
    spare().make();
  }
  return WakeFifo{KeptDescriptor{std::move(file), fifo.path}};
}

void WakeFifo::drain() const {
  const int file = file_.number();
  std::array<char, 256> rings{};
  while (::read(file, rings.data(), rings.size()) == static_cast<ssize_t>(rings.size())) {
  }
}

void WakeFifo::inherit_across_exec() const { ::fcntl(file_.number(), F_SETFD, 0); }

LivenessWatch::LivenessWatch(const FileAt& fifo) {
  Descriptor file = open_or_make(fifo, O_RDONLY);
  if (file) {
    file_ = KeptDescriptor{std::move(file), fifo.path};
  } else if (errno != ENOENT || fifo.is_own()) { // this user's can be made as long as its folder is there
    throw failure("watch", fifo.path);
  }
}

bool LivenessWatch::owner_lives() const {
  if (!file_) {
    return false;
  }
  const int file = file_.number();
  if (!lock_file(file, LOCK_SH | LOCK_NB)) {
    if (errno == EWOULDBLOCK) {
      return true;
    }
    throw failure("probe", file_.path()); // taken for alive, it would be waited for and never looked at again
  }
  // Unlocked here and not by closing: a child forked by another thread just now would keep the lock.
  lock_file(file, LOCK_UN);
  return false;
}

void notify(const FileAt& fifo) {
  const std::lock_guard guard{spare().threads};
  try {
    const Descriptor file = open_to_notify(fifo);
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
  spare().make();
}

Woken wait(const WakeFifo& own, const std::vector<LivenessWatch>& watched, std::chrono::milliseconds at_most) {
  std::vector<pollfd> files;
  files.reserve(1 + watched.size());
  files.push_back({own.number(), POLLIN, 0});
  for (const auto& watch : watched) {
    files.push_back({watch.number(), 0, 0}); // no events: only the hang-up is reported
  }
  const auto longest = std::chrono::milliseconds{std::numeric_limits<int>::max()};
  const int ready =
      ::poll(files.data(), static_cast<nfds_t>(files.size()), static_cast<int>(std::min(at_most, longest).count()));
  if (ready < 0 && errno != EINTR) {
    throw failure("wait at", own.path()); // not looked again at once, without end
  }
  Woken woken;
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

} // namespace gputest::platform
