// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/storage/file_lock.hpp"

#include "core/ledger/storage/file_at.hpp"
#include "core/os/file.hpp"
#include "core/os/kernel_clock.hpp"
#include "core/os/mutex.hpp"
#include "core/os/process.hpp"
#include "core/os/test_status_page.hpp"

#include <gputest/error.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <utility>

namespace gputest::os {

namespace {

/// Locks that many bytes of a file for this process, or unlocks them; 0: all. False if another one has some of them, or
/// if the kernel refuses: errno.
bool set_lock(int file, short type, off_t bytes) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_len = bytes;
  return ::fcntl(file, F_SETLK, &lock) == 0;
}

/// A number that no process has locked the file with before, so that others see when it goes from hand to hand: all
/// processes of another pid namespace have the same pid there.
off_t other_bytes_each_time() { return KernelClock::now().time_since_epoch().count(); }

/// What keeps this process out.
struct OtherLock {
  static constexpr pid_t not_told = -2; ///< by a kernel without F_GETLK

  pid_t pid = not_told; ///< 0: of another pid namespace; -1: of an open file description
  off_t bytes = 0;

  bool operator==(const OtherLock& other) const { return pid == other.pid && bytes == other.bytes; }
  bool operator!=(const OtherLock& other) const { return !(*this == other); }
};

/// nullopt: nothing does.
std::optional<OtherLock> lock_of_another(int file) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (::fcntl(file, F_GETLK, &lock) != 0) {
    return OtherLock{};
  }
  return lock.l_type == F_UNLCK ? std::nullopt : std::optional{OtherLock{lock.l_pid, lock.l_len}};
}

/// Calls `try_lock` until it has the lock. Whether it has it: not if `keeper` was the same lock, and never none, for
/// FileLock::longest_wait, in which this process was not stopped.
template <class TryLock, class Keeper>
bool lock_in_time(TryLock try_lock, Keeper keeper) {
  if (try_lock()) {
    return true;
  }
  // A holder is done after some microseconds. A process that retries too often takes the processor from it, the more so
  // if many do.
  constexpr std::chrono::microseconds first_pause{20};
  constexpr std::chrono::milliseconds usual_wait{20};
  std::chrono::microseconds longest_pause{500};
  constexpr std::chrono::microseconds longest_of_many{10'000};
  std::optional<PauseTimeLimit> waits;
  std::optional<OtherLock> kept_by;
  KernelClock::duration kept{0}; // for how long that has had it
  auto now = KernelClock::now();
  for (auto pause = first_pause; kept < FileLock::longest_wait; pause = std::min(pause * 2, longest_pause)) {
    if (pause == longest_pause && !waits) {
      waits.emplace(FileLock::longest_wait); // others keep it: that is no time of the test's
    }
    KernelClock::sleep_for(pause);
    const auto slept_since = std::exchange(now, KernelClock::now());
    kept += now - slept_since < pause + KernelClock::late_if_stopped ? now - slept_since : pause;
    if (try_lock()) {
      return true;
    }
    if (kept < usual_wait) {
      continue;
    }
    if (const std::optional<OtherLock> other = keeper(); !other || other != kept_by) {
      longest_pause = other && kept_by ? longest_of_many : longest_pause;
      kept_by = other;
      kept = {};
    }
  }
  return false;
}

/// A process that keeps others out, for people.
std::string in_words(pid_t holder) {
  std::string command;
  for (const auto& word : command_line_of(holder)) {
    command += " " + word;
  }
  const std::string pid = std::to_string(holder);
  const bool stopped = state_of(holder) == ProcessState::stopped;
  return "process " + pid + " (" + (command.empty() ? "no command" : command.substr(1)) + (stopped ? ", stopped" : "") +
         ") holds it; " + (stopped ? "continue it (kill -CONT " + pid + ") or end it" : "end it (kill " + pid + ")");
}

/// The process that keeps others out, for people.
std::string holder_of(const OtherLock& lock, const std::string& path) {
  if (lock.pid == -1 || lock.pid == OtherLock::not_told) {
    return std::string{"a process that cannot be named holds it, because "} +
           (lock.pid == -1 ? "its lock is on an open file description (F_OFD_SETLK), and gputest's locks are not"
                           : "this system does not tell which one has a lock (F_GETLK)") +
           "; fuser " + path + " names all that have the file open; end that one";
  }
  if (lock.pid == 0 || !exists(lock.pid)) {
    return "a process of another container holds it; end that one";
  }
  return in_words(lock.pid);
}

/// The process that has locked a file by flock() for itself alone; nullopt if it cannot be told.
std::optional<pid_t> flock_holder_of(const struct stat& file) {
  std::istringstream locks{contents_of("/proc/locks").value_or("")};
  for (std::string line; std::getline(locks, line);) {
    std::istringstream fields{line}; // 1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF
    std::string number;
    std::string kind;
    std::string how;
    std::string type;
    pid_t pid = 0;
    unsigned major = 0;
    unsigned minor = 0;
    ino_t inode = 0;
    char colon = 0;
    fields >> number >> kind >> how >> type >> pid >> std::hex >> major >> colon >> minor >> colon >> std::dec >> inode;
    if (fields && kind == "FLOCK" && type == "WRITE" && inode == file.st_ino && makedev(major, minor) == file.st_dev &&
        exists(pid)) {
      return pid;
    }
  }
  return std::nullopt;
}

} // namespace

struct FileLock::Kernel {
  Mutex threads;
  KeptDescriptor file;

  explicit Kernel(KeptDescriptor opened) : file{std::move(opened)} {}

  /// Those of this process. By the file and not by its path, which may lead to another file tomorrow. Replaced as a
  /// whole: a process that is forked meanwhile needs all of them, for with a second one of a file the lock is lost when
  /// one of the two ends.
  using Files = std::map<std::pair<dev_t, ino_t>, std::weak_ptr<Kernel>>;
  struct All {
    Mutex mutex;
    std::atomic<Files*> files{new Files}; // NOLINT(cppcoreguidelines-owning-memory): by one owner or the other
  };
  static All& all() {
    static auto& all = *new All; // NOLINT(cppcoreguidelines-owning-memory): used until the process ends
    return all;
  }

  /// Throws LedgerError if the kernel refuses, or if the file was closed by something else.
  bool try_lock() {
    const bool acquired = set_lock(file.unchecked_number(), F_WRLCK, other_bytes_each_time());
    if (!acquired && errno != EAGAIN && errno != EACCES) {
      const int error = errno;
      static_cast<void>(file.number());
      throw LedgerError{"cannot lock " + file.path() + ": " + reason(error)};
    }
    return acquired;
  }
};

FileLock::FileLock(const FileAt& file, IfMissing if_missing) {
  auto& all = Kernel::all();
  const std::lock_guard guard{all.mutex};
  // Looked for before it is opened: to close one more descriptor of it would drop a lock that this process has.
  if (const auto seen = FileIdentity::at(file)) {
    const auto known = all.files.load()->find({seen->device, seen->inode});
    kernel_ = known == all.files.load()->end() ? nullptr : known->second.lock();
  }
  if (kernel_) {
    return;
  }
  Descriptor opened = file.open(if_missing == IfMissing::make ? O_RDWR | O_CREAT : O_RDWR, S_IFREG);
  if (!opened) {
    throw LedgerError{"cannot open the lock file " + file.path + ": " + reason(errno)};
  }
  kernel_ = std::make_shared<Kernel>(KeptDescriptor{std::move(opened), file.path});
  const auto& identity = kernel_->file.identity();
  auto files = std::make_unique<Kernel::Files>();
  for (const auto& known : *all.files.load()) {
    if (!known.second.expired()) {
      files->insert(known);
    }
  }
  files->insert_or_assign({identity.device, identity.inode}, kernel_);
  files.reset(all.files.exchange(files.release()));
}

FileLock::~FileLock() = default;

void FileLock::lock() {
  if (kernel_->threads.is_of_this_thread()) {
    throw LedgerError{"cannot lock " + kernel_->file.path() +
                      " in a signal handler: it has interrupted a call of gputest's, which has the lock"};
  }
  std::unique_lock threads{kernel_->threads};
  std::optional<OtherLock> keeper;
  const auto look = [&] { return keeper = lock_of_another(kernel_->file.unchecked_number()); };
  if (!lock_in_time([this] { return kernel_->try_lock(); }, look)) {
    require_kept();
    throw LedgerError{"cannot lock " + kernel_->file.path() + " within " + std::to_string(longest_wait.count()) +
                      " s, which is needed for microseconds: " + holder_of(*keeper, kernel_->file.path())};
  }
  static_cast<void>(threads.release());
}

void FileLock::unlock() noexcept {
  if (!set_lock(kernel_->file.unchecked_number(), F_UNLCK, 0)) {
    // The kernel lets go of all of a process's locks on a file with any descriptor of it that is closed. As long as
    // this process kept the lock, nobody else could go on.
    const Descriptor closed{
        ::open(("/proc/self/fd/" + std::to_string(kernel_->file.unchecked_number())).c_str(), O_RDONLY | O_CLOEXEC)};
  }
  kernel_->threads.unlock();
}

std::string FileLock::keeper() const {
  constexpr int looks = 10; // a holder is done after some microseconds
  constexpr std::chrono::milliseconds pause{10};
  const int file = kernel_->file.unchecked_number();
  const auto first = lock_of_another(file);
  if (!first || first->pid == OtherLock::not_told) {
    return "";
  }
  for (int look = 1; look < looks; ++look) {
    KernelClock::sleep_for(pause);
    if (lock_of_another(file) != first) {
      return "";
    }
  }
  return holder_of(*first, kernel_->file.path());
}

void FileLock::require_kept() const { static_cast<void>(kernel_->file.number()); }

bool FileLock::is_removed() const { return kernel_->file.is_removed(); }

bool try_share(int folder, const std::string& path) {
  const bool locked = ::flock(folder, LOCK_SH | LOCK_NB) == 0;
  if (!locked && errno != EWOULDBLOCK && errno != EINTR) {
    throw failure("lock the folder", path, errno);
  }
  return locked;
}

void share(int folder, const std::string& path) {
  if (lock_in_time([&] { return try_share(folder, path); }, [] { return OtherLock{}; })) {
    return;
  }
  struct stat status {};
  const auto holder = ::fstat(folder, &status) == 0 ? flock_holder_of(status) : std::nullopt;
  throw LedgerError{
      "cannot share the folder " + path + ": another process has locked it for itself alone (flock) for " +
      std::to_string(FileLock::longest_wait.count()) + " s: " +
      (holder ? in_words(*holder)
              : "it cannot be named; fuser " + path + " names all that have the folder open; end that one")};
}

} // namespace gputest::os
