#include "system/bell.hpp"

#include <gputest/error.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <limits>
#include <system_error>

namespace gputest::system {

namespace {

LedgerError failure(const std::string& what, const std::string& path) {
  return LedgerError{"cannot " + what + " " + path + ": " + std::generic_category().message(errno)};
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
  Descriptor file{::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC)};
  if (!file) {
    throw failure("open", path);
  }
  if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      return Bell{};
    }
    throw failure("lock", path);
  }
  return Bell{std::move(file)};
}

void Bell::hush() const {
  std::array<char, 256> rings{};
  while (::read(file_.number(), rings.data(), rings.size()) > 0) {
  }
}

void Bell::inherit_across_exec() const { ::fcntl(file_.number(), F_SETFD, 0); }

BellWatch::BellWatch(const std::string& path) : file_{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)} {
  if (!file_) {
    throw failure("watch", path);
  }
}

bool BellWatch::owner_lives() const {
  if (::flock(file_.number(), LOCK_SH | LOCK_NB) != 0) {
    return true;
  }
  // Unlocked here and not by closing: a child forked by another thread just now would keep the lock.
  ::flock(file_.number(), LOCK_UN);
  return false;
}

void ring(const std::string& path) {
  const Descriptor file{::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC)};
  if (file) {
    const char one = 1;
    [[maybe_unused]] const auto written = ::write(file.number(), &one, 1);
  }
}

void wait(const Bell& own, const std::vector<BellWatch>& watched, std::chrono::milliseconds at_most) {
  std::vector<pollfd> files;
  files.push_back({own.number(), POLLIN, 0});
  for (const auto& watch : watched) {
    files.push_back({watch.number(), 0, 0}); // no events: only the hang-up is reported
  }
  const auto longest = std::chrono::milliseconds{std::numeric_limits<int>::max()};
  ::poll(files.data(), static_cast<nfds_t>(files.size()), static_cast<int>(std::min(at_most, longest).count()));
}

} // namespace gputest::system
