// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/os/file.hpp"

#include <optional>
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

/// The file of an open descriptor, independent of its number and of the path.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  mode_t type = 0; ///< S_IFREG, S_IFIFO, ...

  /// Nothing if the descriptor is not open.
  [[nodiscard]] static std::optional<FileIdentity> of(int descriptor);

  /// Nothing if the file is not there or cannot be seen: errno says why. Follows no link.
  [[nodiscard]] static std::optional<FileIdentity> at(const FileAt& file);
  [[nodiscard]] static std::optional<FileIdentity> at(int folder, const std::string& name);

  [[nodiscard]] bool operator==(const FileIdentity& other) const {
    return device == other.device && inode == other.inode && type == other.type;
  }
};

/// A descriptor that is kept while tests run, which may close it although it is not theirs.
///
/// Its number is then nobody's, or that of a file of theirs, which must be neither written nor closed. So number()
/// looks before a write and at a test's end; unchecked_number() is for what does no harm to another file.
class KeptDescriptor {
public:
  KeptDescriptor() = default;

  /// Keeps `file`, which must be open, out of the way of tests; `path` is for messages.
  KeptDescriptor(Descriptor file, std::string path)
      : KeptDescriptor{out_of_the_way(std::move(file)), std::move(path), Where::it_is} {}

  /// Keeps it by the number that it has: one that nobody can write to.
  enum class Where { it_is };
  KeptDescriptor(Descriptor file, std::string path, Where where);
  KeptDescriptor(KeptDescriptor&& other) noexcept = default;
  KeptDescriptor& operator=(KeptDescriptor&& other) noexcept;
  KeptDescriptor(const KeptDescriptor&) = delete;
  KeptDescriptor& operator=(const KeptDescriptor&) = delete;

  /// Closes it, unless it is another file's by now.
  ~KeptDescriptor();

  /// Whether there is one, lost or not.
  explicit operator bool() const { return static_cast<bool>(file_); }

  /// The number, for use at once. Throws LedgerError if it is lost.
  [[nodiscard]] int number() const;

  /// The number without a look whether it is still this file's, and -1 if there is none.
  [[nodiscard]] int unchecked_number() const { return file_.number(); }

  /// Whether its file was removed from its folder, so that the path now names another file, or none.
  [[nodiscard]] bool is_removed() const;

  /// For a folder: whether `name` in it is not this file (any more), because it was removed, renamed or replaced. False
  /// where that cannot be seen, as when the folder itself is lost.
  [[nodiscard]] bool lacks(const std::string& name, const FileIdentity& file) const;

  /// As it was kept for; for messages.
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const FileIdentity& identity() const { return identity_; }

private:
  [[nodiscard]] bool is_lost() const;

  Descriptor file_;
  FileIdentity identity_;
  std::string path_;
};

/// Throws LedgerError if `descriptor`, opened for `path`, is not that file's any more.
void require_kept(int descriptor, const FileIdentity& identity, const std::string& path);

} // namespace gputest::os
