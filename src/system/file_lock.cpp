#include "system/file_lock.hpp"

#include <gputest/error.hpp>

#include <boost/interprocess/exceptions.hpp>
#include <boost/interprocess/sync/file_lock.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <mutex>
#include <system_error>
#include <tuple>

namespace gputest::system {

namespace ipc = boost::interprocess;

struct FileLock::Kernel {
  std::mutex threads;
  ipc::file_lock lock;
};

FileLock::FileLock(const std::string& path) : path_{path} {
  // By the file and not by its path, which may lead to another file tomorrow. And by the process: in a forked child the
  // thread mutex may be locked for ever, by a thread that only the parent has.
  using File = std::tuple<pid_t, dev_t, ino_t>;
  static std::mutex guard;
  static std::map<File, std::weak_ptr<Kernel>> open_files;

  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    throw LedgerError{"cannot open the lock file " + path + ": " + std::generic_category().message(errno)};
  }
  const std::lock_guard guarded{guard};
  auto& known = open_files[{::getpid(), status.st_dev, status.st_ino}];
  kernel_ = known.lock();
  if (kernel_) {
    return;
  }
  try {
    kernel_ = std::make_shared<Kernel>();
    kernel_->lock = ipc::file_lock{path.c_str()};
    known = kernel_;
  } catch (const ipc::interprocess_exception& error) {
    throw LedgerError{"cannot open the lock file " + path + ": " + error.what()};
  }
}

FileLock::~FileLock() = default;

void FileLock::lock() {
  kernel_->threads.lock();
  for (;;) {
    try {
      kernel_->lock.lock();
      return;
    } catch (const ipc::interprocess_exception& error) {
      // Before Boost 1.87 a signal ends the wait with an exception. And the kernel, to which all threads of a process
      // are one owner, sees a deadlock where one thread holds what another process waits for and a second thread waits
      // for that process: it passes.
      if (error.get_native_error() == EINTR || error.get_native_error() == EDEADLK) {
        continue;
      }
      kernel_->threads.unlock();
      throw LedgerError{"cannot lock " + path_ + ": " + error.what()};
    }
  }
}

void FileLock::unlock() noexcept {
  try {
    kernel_->lock.unlock();
  } catch (const ipc::interprocess_exception&) { // NOLINT(bugprone-empty-catch)
    // Unlocking fails only if the descriptor is gone, and then the kernel has let go of the lock already.
  }
  kernel_->threads.unlock();
}

} // namespace gputest::system
