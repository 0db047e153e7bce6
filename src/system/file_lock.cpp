#include "system/file_lock.hpp"

#include <gputest/error.hpp>

#include <boost/interprocess/exceptions.hpp>
#include <boost/interprocess/sync/file_lock.hpp>

#include <cerrno>

namespace gputest::system {

namespace ipc = boost::interprocess;

struct FileLock::Kernel {
  ipc::file_lock lock;
};

FileLock::FileLock(const std::string& path) : path_{path} {
  try {
    kernel_ = std::make_unique<Kernel>(Kernel{ipc::file_lock{path.c_str()}});
  } catch (const ipc::interprocess_exception& error) {
    throw LedgerError{"cannot open the lock file " + path + ": " + error.what()};
  }
}

FileLock::~FileLock() = default;

void FileLock::lock() {
  threads_.lock();
  for (;;) {
    try {
      kernel_->lock.lock();
      return;
    } catch (const ipc::interprocess_exception& error) {
      // Before Boost 1.87 a signal ends the wait with an exception.
      if (error.get_native_error() == EINTR) {
        continue;
      }
      threads_.unlock();
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
  threads_.unlock();
}

} // namespace gputest::system
