#pragma once

#include <memory>
#include <mutex>
#include <string>

namespace gputest::system {

/// A mutex between processes that the kernel releases when its holder ends, however it ends: Boost's file_lock.
///
/// Excludes the threads of this process too. Meets BasicLockable. One object a file and process: a POSIX record lock is
/// dropped when the process closes any descriptor of the file.
class FileLock {
public:
  /// `path` must exist and be writable. Throws LedgerError.
  explicit FileLock(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  /// Blocks until the lock is had; goes on after signals. Throws LedgerError if the kernel refuses.
  void lock();
  void unlock() noexcept;

private:
  struct Kernel;
  std::string path_;
  std::mutex threads_;
  std::unique_ptr<Kernel> kernel_;
};

} // namespace gputest::system
