#include "system/bell.hpp"

#include "system/reason.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <limits>
#include <mutex>

namespace gputest::system {

namespace {

LedgerError failure(const std::string& what, const std::string& path) {
  return LedgerError{"cannot " + what + " " + path + ": " + reason(errno)};
}

/// Keeps what was opened as a bell at `path`.
KeptDescriptor require_fifo(Descriptor file, const std::string& path) {
  KeptDescriptor kept{std::move(file), path};
  if (kept.identity().type != S_IFIFO) {
    throw LedgerError{path + " is not a FIFO, as a bell must be; when no GPU test is running, remove its folder"};
  }
  return kept;
}

/// The descriptor that is kept back for ring(). It is of this process's own bell, but neither reads nor writes it nor
/// keeps it locked.
struct Spare {
  std::mutex threads;
  std::string path;
  KeptDescriptor file;

  void make() {
    if (!path.empty() && !file) {
      if (Descriptor opened{::open(path.c_str(), O_PATH | O_CLOEXEC)}) {
        file = KeptDescriptor{std::move(opened), path};
      }
    }
  }
};

Spare& spare() {
  static Spare& spare = *new Spare; // NOLINT(cppcoreguidelines-owning-memory): globals may ring when they are destroyed
  return spare;
}

Descriptor open_to_ring(const std::string& path) {
  // For both directions: if only for writing, SIGPIPE would end this process where the owner is killed before the
  // write.
  const auto open = [&] { return Descriptor{::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC)}; };
  Descriptor file = open();
  if (!file && (errno == EMFILE || errno == ENFILE) && spare().file) {
    spare().file = KeptDescriptor{};
    file = open();
  }
  return file;
}

} // namespace

void Bell::create(const std::string& path) {
  constexpr mode_t everybody = 0666;
  if (::mkfifo(path.c_str(), everybody) != 0 || ::chmod(path.c_str(), everybody) != 0) {
    throw failure("create", path);
  }
}

Bell Bell::take(const std::string& path) {
  // Open for both directions: the write end, held until the owner and its forked children have ended, is what watchers
  // see go away.
  Descriptor opened{::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC)};
  if (!opened) {
    throw failure("open", path);
  }
  KeptDescriptor file = require_fifo(std::move(opened), path);
  if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      return Bell{};
    }
    throw failure("lock", path);
  }
  // Not lock(): in a forked child it may be locked for ever, by a thread that only the parent has.
  if (const std::unique_lock guard{spare().threads, std::try_to_lock}) {
    spare().path = path;
    spare().file = KeptDescriptor{};
    spare().make();
  }
  return Bell{std::move(file)};
}

void Bell::hush() const {
  const int file = file_.number();
  std::array<char, 256> rings{};
  while (::read(file, rings.data(), rings.size()) == static_cast<ssize_t>(rings.size())) {
  }
}

void Bell::inherit_across_exec() const { ::fcntl(file_.number(), F_SETFD, 0); }

BellWatch::BellWatch(const std::string& path) : path_{path} {
  Descriptor file{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
  if (!file) {
    throw failure("watch", path);
  }
  file_ = require_fifo(std::move(file), path);
}

bool BellWatch::owner_lives() const {
  const int file = file_.number();
  if (::flock(file, LOCK_SH | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      return true;
    }
    throw failure("probe", path_); // taken for alive, it would be waited for and never looked at again
  }
  // Unlocked here and not by closing: a child forked by another thread just now would keep the lock.
  ::flock(file, LOCK_UN);
  return false;
}

void ring(const std::string& path) {
  const std::lock_guard guard{spare().threads};
  {
    const Descriptor file = open_to_ring(path);
    const char one = 1;
    if (!file || (::write(file.number(), &one, 1) < 0 && errno != EAGAIN)) {
      throw CannotRing{"cannot wake the owner of " + path + ": " + reason(errno)};
    }
  }
  spare().make();
}

Woken wait(const Bell& own, const std::vector<BellWatch>& watched, std::chrono::milliseconds at_most) {
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
    woken.rung = files.front().revents != 0;
    for (std::size_t i = 0; i < watched.size(); ++i) {
      if (files[1 + i].revents != 0) {
        woken.ended.push_back(i);
      }
    }
  }
  return woken;
}

} // namespace gputest::system
