// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/os/descriptor.hpp"

#include <string>

#include <sys/types.h>

namespace gputest::os {

/// What chmod() sets of a file's mode.
constexpr mode_t permission_bits = 07777;

/// A file by its name in an open folder, and what it has to be before anything is done with it.
///
/// The folder is a descriptor, so that nobody can swap a folder on the way to the file; a symbolic link in its place is
/// never followed; type, owner and number of links are looked at through the descriptor that is used afterwards.
struct FileAt {
  /// A file of this user's, by its path.
  FileAt(const std::string& file); // NOLINT(google-explicit-constructor): wherever a file is named

  /// The file `called` so in an open folder, whose path is for messages only.
  FileAt(int in, const std::string& in_path, const std::string& called, uid_t of, mode_t as);

  /// A file of nobody's that is not there, in a folder that is gone.
  [[nodiscard]] static FileAt nothing();

  [[nodiscard]] bool is_own() const;

  /// Opens it with these flags of open(). If they say so, creates it with `mode`, independent of the umask. Gives a
  /// FIFO of this user's its `mode`. Never blocks. Empty if the kernel refuses: errno says why. Throws LedgerError for
  /// anything but a `type` (S_IFREG, S_IFIFO, S_IFDIR) of the right owner; nothing has been read from it or written to
  /// it then.
  [[nodiscard]] Descriptor open(int flags, mode_t type) const;

  /// Opens the FIFO, and makes it if it is this user's and missing. Empty and throws as open() does.
  [[nodiscard]] Descriptor open_or_make_fifo(int flags) const;

  /// What is there in its place, or why nothing can be seen of it (`error`, of errno), for people.
  [[nodiscard]] std::string in_words(int error) const;

  int folder;
  std::string name;
  std::string path; ///< for messages
  uid_t owner;      ///< whose it must be
  mode_t mode;      ///< with which this user makes it

private:
  void require_owner(uid_t found) const;
};

/// What to do about a ledger's file or folder of `owner` that is not as it must be; begins with a semicolon.
[[nodiscard]] std::string repair_of(uid_t owner);

} // namespace gputest::os
