// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/ledger/storage/file_at.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace gputest::os {

/// The folder that ledgers are kept in, opened once: all in it is reached through its descriptor.
///
/// A private one belongs to this user, and nobody else can write to it. A shared one belongs to root: every member of
/// its group may add files, and nobody can remove or replace those of another member (mode 3770).
class LedgerFolder {
public:
  /// Opens the folder, and makes a private one where nothing is. Throws LedgerError that says what is wrong with what
  /// is there: it is not used then.
  explicit LedgerFolder(const std::string& path);

  /// Keeps what removes old files from /tmp away from a folder that this user alone can open, if the constructor could
  /// not: blocks for FileLock::longest_wait at most. Throws LedgerError that names the process which has locked it.
  void lock();

  [[nodiscard]] bool is_shared() const { return shared_; }
  [[nodiscard]] const std::string& path() const { return folder_.path(); }

  /// A file or folder in it, of `owner`. Throws LedgerError if something in this process has closed the folder.
  [[nodiscard]] FileAt at(const std::string& name, uid_t owner, mode_t mode) const;

  /// Throws LedgerError if it is on a file system that may be another machine's: locks need not hold between machines,
  /// and a FIFO never does.
  void refuse_network() const;

  /// Whether it is not at its path any more: removed, renamed or replaced.
  [[nodiscard]] bool is_gone() const { return parent_.lacks(name_, folder_.identity()); }

  /// Whether `file` is not there any more in it, at a path relative to it.
  [[nodiscard]] bool lacks(const std::string& name, const FileIdentity& file) const {
    return folder_.lacks(name, file);
  }

  /// The descriptor, unchecked: for looking at the folder itself.
  [[nodiscard]] int number() const { return folder_.unchecked_number(); }

private:
  KeptDescriptor folder_;
  KeptDescriptor parent_; ///< the folder that it is in
  std::string name_;      ///< in parent_
  bool shared_ = false;
  bool is_locked_ = false; ///< or need not be
};

/// Where the ledger is: `setting` (GPUTEST_DIR) if there is one, else the machine's shared folder, /run/gputest, where
/// an administrator has made one and this user is a member of its group, else the private folder of this user
/// (user_folder()). Where `devices` (GPUTEST_DEVICES) are simulated it is never the machine's. Looks at nothing of
/// the environment.
///
/// Throws LedgerError if the shared folder is not as it must be.
[[nodiscard]] std::string ledger_folder(const std::string& setting, const std::string& devices);

/// Where memory of simulated devices is kept: `setting`, unless that is a shared folder, else the private folder.
[[nodiscard]] std::string private_folder(const std::string& setting);

/// Whether there is a ledger, or other store, of this name. Makes nothing. Throws LedgerError if it cannot be seen.
[[nodiscard]] bool has_store(const std::string& folder, const std::string& name);

/// Name of the file system of this type (`f_type` of statfs) if it may be another machine's, else nothing.
[[nodiscard]] std::string_view network_file_system(std::uint32_t type);

} // namespace gputest::os
