// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/os/descriptor.hpp"
#include "core/os/file_at.hpp"

#include <optional>
#include <string>

#include <sys/types.h>

namespace gputest::os {

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

  /// Keeps `file`, which must be open; `path` is for messages.
  KeptDescriptor(Descriptor file, std::string path);
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

  /// Which file it is of, or was.
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
