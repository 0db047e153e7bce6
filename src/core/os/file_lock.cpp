// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/file_lock.hpp"

#include "core/os/file.hpp"
#include "core/os/file_at.hpp"
#include "core/os/process.hpp"

#include <gputest/error.hpp>

#include <boost/interprocess/detail/os_file_functions.hpp>

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>
#include <utility>

namespace gputest::os {

// What Boost's file_lock calls. The class itself opens a path, without O_CLOEXEC, and does not show the descriptor:
// nothing could tell whether a test has closed it.
namespace ipc = boost::interprocess::ipcdetail;
using std::chrono::steady_clock;

namespace {

/// The lock that keeps this process out; of the type F_UNLCK if none does.
struct flock lock_of_another(int file) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (::fcntl(file, F_GETLK, &lock) != 0) {
    lock.l_type = F_UNLCK;
  }
  return lock;
}

/// The process that keeps others out, for people.
std::string holder_of(const struct flock& lock, const std::string& path) {
  if (lock.l_type == F_UNLCK) {
    return "several processes, one after the other, have it";
  }
  if (lock.l_pid == -1) {
    return "a process that cannot be named holds it, because its lock is on an open file description (F_OFD_SETLK), "
           "and "
           "gputest's locks are not; fuser " +
           path + " names all that have the file open; end that one";
  }
  if (lock.l_pid <= 0 || !exists(lock.l_pid)) { // 0: of another pid namespace
    return "a process of another container holds it; end that one";
  }
  std::string command;
  for (const auto& word : command_line_of(lock.l_pid)) {
    command += " " + word;
  }
  const std::string pid = std::to_string(lock.l_pid);
  const bool stopped = state_of(lock.l_pid) == ProcessState::stopped;
  return "process " + pid + " (" + (command.empty() ? "no command" : command.substr(1)) + (stopped ? ", stopped" : "") +
         ") holds it; " + (stopped ? "continue it (kill -CONT " + pid + ") or end it" : "end it (kill " + pid + ")");
}

} // namespace

struct FileLock::Kernel {
  std::mutex threads;
  KeptDescriptor file;

  explicit Kernel(KeptDescriptor opened) : file{std::move(opened)} {}

  /// Throws LedgerError if the kernel refuses, or if the file was closed by something else.
  bool try_lock() {
    bool acquired = false;
    if (!ipc::try_acquire_file_lock(file.unchecked_number(), acquired)) {
      const int error = errno;
      static_cast<void>(file.number());
      throw LedgerError{"cannot lock " + file.path() + ": " + reason(error)};
    }
    return acquired;
  }
};

FileLock::FileLock(const FileAt& file, IfMissing if_missing) {
  // By the file and not by its path, which may lead to another file tomorrow. And by the process: in a forked child the
  // thread mutex may be locked for ever, by a thread that only the parent has.
  using File = std::tuple<pid_t, dev_t, ino_t>;
  static std::mutex guard;
  static std::map<File, std::weak_ptr<Kernel>> open_files;

  const std::lock_guard guarded{guard};
  // Looked for before it is opened: to close one more descriptor of it would drop a lock that this process has.
  if (const auto seen = FileIdentity::at(file)) {
    kernel_ = open_files[{own_pid(), seen->device, seen->inode}].lock();
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
  open_files[{own_pid(), identity.device, identity.inode}] = kernel_;
}

FileLock::~FileLock() = default;

void FileLock::lock() {
  std::unique_lock threads{kernel_->threads};
  const auto until = steady_clock::now() + longest_wait;
  // A holder is done after some microseconds. A process that retries too often takes the processor from it.
  constexpr std::chrono::microseconds first_pause{20};
  constexpr std::chrono::microseconds longest_pause{500};
  for (auto pause = first_pause; !kernel_->try_lock(); pause = std::min(pause * 2, longest_pause)) {
    if (steady_clock::now() >= until) {
      require_kept();
      throw LedgerError{"cannot lock " + kernel_->file.path() + " within " + std::to_string(longest_wait.count()) +
                        " s, which is needed for microseconds: " +
                        holder_of(lock_of_another(kernel_->file.unchecked_number()), kernel_->file.path())};
    }
    std::this_thread::sleep_for(pause);
  }
  static_cast<void>(threads.release());
}

void FileLock::unlock() noexcept {
  if (!ipc::release_file_lock(kernel_->file.unchecked_number())) {
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
  for (int look = 1; look < looks && first.l_type != F_UNLCK; ++look) {
    std::this_thread::sleep_for(pause);
    // All processes of another pid namespace have the number 0: that may be one after the other.
    if (const auto now = lock_of_another(file); now.l_type == F_UNLCK || now.l_pid != first.l_pid || now.l_pid == 0) {
      return "";
    }
  }
  return first.l_type == F_UNLCK ? "" : holder_of(first, kernel_->file.path());
}

void FileLock::require_kept() const { static_cast<void>(kernel_->file.number()); }

bool FileLock::is_removed() const { return kernel_->file.is_removed(); }

} // namespace gputest::os
