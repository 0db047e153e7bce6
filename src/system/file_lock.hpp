#pragma once

#include <memory>
#include <string>

namespace gputest::system {

/// A mutex between processes that the kernel releases when its holder ends, however it ends: Boost's file_lock.
///
/// Excludes the threads of this process too, also those that use another object for the same file. Meets BasicLockable.
/// Nothing else in the process may open and close the file: a POSIX record lock goes with any descriptor of it.
class FileLock {
public:
  /// `path` must exist and be writable. Throws LedgerError.
  explicit FileLock(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  /// Blocks until the lock is had; goes on after signals. Throws LedgerError if the kernel refuses, or if something
  /// else in this process has closed the file.
  void lock();
  void unlock() noexcept;

  /// Throws LedgerError if something else in this process has closed the file, so that it cannot be locked any more.
  void require_lockable() const;

private:
  struct Kernel;
  std::string path_;
  std::shared_ptr<Kernel> kernel_; ///< of all objects of this process for that file
};

} // namespace gputest::system
