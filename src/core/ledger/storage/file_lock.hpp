// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/ledger/storage/file_at.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace gputest::os {

/// A mutex between processes that the kernel releases when its holder ends, however it ends.
///
/// Waiting for it does not count towards the time limit of this process's entry. Excludes the threads of this process
/// too, also those that use another object for the same file. Meets BasicLockable. Nothing else in the process may open
/// and close the file: a POSIX record lock goes with any descriptor of it.
class FileLock {
public:
  /// A process that is neither stopped nor hostile has the lock for microseconds.
  static constexpr std::chrono::seconds longest_wait{5};

  enum class IfMissing { fail, make };

  /// Throws LedgerError.
  explicit FileLock(const FileAt& file, IfMissing if_missing = IfMissing::fail);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  /// Blocks until it has the lock; goes on after signals. Throws LedgerError if one process keeps it for
  /// `longest_wait`, in which this one is not stopped, naming the process, if the kernel refuses, or if the file was
  /// closed by something else here.
  void lock();
  void unlock() noexcept;

  /// Which other process keeps it locked, and what to do about it, in words; empty if none does, or if it goes from
  /// hand to hand. Needs no lock: a tenth of a second at most, and no time where nobody has it.
  [[nodiscard]] std::string keeper() const;

  /// Throws LedgerError if something else in this process has closed the file, so that it cannot be locked any more.
  void require_kept() const;

  /// Whether the file was removed since it was opened: others lock another one.
  [[nodiscard]] bool is_removed() const;

private:
  struct Kernel;
  std::shared_ptr<Kernel> kernel_; ///< of all objects of this process for that file
};

/// Locks an open folder by flock(), as others may at the same time: what removes old files leaves it out then. False if
/// a process has locked it for itself alone. Throws LedgerError if the kernel refuses.
[[nodiscard]] bool try_share(int folder, const std::string& path);

/// The same, and blocks until it is locked, for FileLock::longest_wait at most. Throws LedgerError that names the
/// process which has it.
void share(int folder, const std::string& path);

} // namespace gputest::os
