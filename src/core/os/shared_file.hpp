// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/os/file_at.hpp"
#include "core/os/kept_descriptor.hpp"

#include <cstddef>

namespace gputest::os {

/// A file that processes share, read and written a piece at a time.
///
/// Nothing of it is mapped: another process may truncate it, and a wild pointer of a test cannot change it. A process
/// killed while it writes leaves either the old piece or the new one, as long as a piece does not cross a page. Reads
/// see the latest writes; their order is up to a lock around both.
class SharedFile {
public:
  SharedFile() = default;

  /// Opens an existing regular file, for writing too if it is this user's. Throws LedgerError.
  explicit SharedFile(const FileAt& file);

  [[nodiscard]] std::size_t size() const;

  /// Reads `size` bytes at `offset`. Throws LedgerError, also if the file ends before.
  void read(std::size_t offset, void* data, std::size_t size) const;

  /// Writes `size` bytes at `offset`. Throws LedgerError, also if something in this process has closed the file.
  void write(std::size_t offset, const void* data, std::size_t size);

  /// Throws LedgerError if something in this process has closed the file.
  void require_kept() const { static_cast<void>(file_.number()); }

  /// Whether the file was removed since it was opened.
  [[nodiscard]] bool is_removed() const { return file_.is_removed(); }

  [[nodiscard]] const FileIdentity& identity() const { return file_.identity(); }
  [[nodiscard]] const std::string& path() const { return file_.path(); }

  /// Makes a file of `size` zero bytes with its blocks allocated, so that no write can fail because the disk is full.
  /// Throws LedgerError.
  static void create(const FileAt& file, std::size_t size);

private:
  KeptDescriptor file_;
  uid_t owner_ = 0;
};

} // namespace gputest::os
