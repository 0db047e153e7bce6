#include "system/file_lock.hpp"

#include "system/descriptor.hpp"
#include "system/kept_descriptor.hpp"
#include "system/reason.hpp"

#include <gputest/error.hpp>

#include <boost/interprocess/exceptions.hpp>
#include <boost/interprocess/sync/file_lock.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

namespace gputest::system {

namespace ipc = boost::interprocess;

struct FileLock::Kernel {
  std::mutex threads;
  union { // so that its destructor, which closes the file, is run only when that is right
    ipc::file_lock lock;
  };
  FileIdentity identity;
  int descriptor = -1; ///< of `lock`, which does not tell it

  Kernel(const std::string& path, const FileIdentity& file, const std::vector<int>& others)
      : lock{path.c_str()}, identity{file}, descriptor{find(path, others)} {
    ::fcntl(descriptor, F_SETFD, FD_CLOEXEC); // Boost lets programs that are started inherit it
  }
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  ~Kernel() {
    if (const auto now = FileIdentity::of(descriptor); now && *now == identity) {
      lock.~file_lock();
    }
  }

private:
  /// A new descriptor has the lowest number that was free, so those below it are open, and this ends soon. In a forked
  /// child the parent's is open as well: it is among `others`.
  [[nodiscard]] int find(const std::string& path, const std::vector<int>& others) const {
    const long most = ::sysconf(_SC_OPEN_MAX);
    for (int number = 0; number < most; ++number) {
      const auto file = FileIdentity::of(number);
      if (file && *file == identity && std::find(others.begin(), others.end(), number) == others.end()) {
        return number;
      }
    }
    throw LedgerError{"cannot open the lock file " + path + ": something else in this process has closed it at once"};
  }
};

FileLock::FileLock(const std::string& path) : path_{path} {
  // By the file and not by its path, which may lead to another file tomorrow. And by the process: in a forked child the
  // thread mutex may be locked for ever, by a thread that only the parent has.
  using File = std::tuple<pid_t, dev_t, ino_t>;
  static std::mutex guard;
  static std::map<File, std::weak_ptr<Kernel>> open_files;

  const auto identity = FileIdentity::at(path);
  if (!identity) {
    throw LedgerError{"cannot open the lock file " + path + ": " + reason(errno)};
  }
  const std::lock_guard guarded{guard};
  auto& known = open_files[{::getpid(), identity->device, identity->inode}];
  kernel_ = known.lock();
  if (kernel_) {
    return;
  }
  std::vector<int> others;
  for (const auto& [file, open] : open_files) {
    if (const auto other = open.lock(); other && std::get<2>(file) == identity->inode) {
      others.push_back(other->descriptor);
    }
  }
  try {
    kernel_ = std::make_shared<Kernel>(path, *identity, others);
    known = kernel_;
  } catch (const ipc::interprocess_exception& error) {
    throw LedgerError{"cannot open the lock file " + path + ": " + reason(error.get_native_error())};
  }
}

FileLock::~FileLock() = default;

void FileLock::lock() {
  kernel_->threads.lock();
  try {
    require_lockable();
  } catch (...) {
    kernel_->threads.unlock();
    throw;
  }
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
      throw LedgerError{"cannot lock " + path_ + ": " + reason(error.get_native_error())};
    }
  }
}

void FileLock::unlock() noexcept {
  try {
    kernel_->lock.unlock();
  } catch (const ipc::interprocess_exception&) {
    // The kernel lets go of all of a process's locks on a file with any descriptor of it that is closed. As long as
    // this process kept the lock, nobody else could go on.
    const Descriptor closed{::open(path_.c_str(), O_RDONLY | O_CLOEXEC)};
  }
  kernel_->threads.unlock();
}

void FileLock::require_lockable() const { require_kept(kernel_->descriptor, kernel_->identity, path_); }

} // namespace gputest::system
