#pragma once

#include "system/kept_descriptor.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace gputest::system {

/// A file that processes share: read through a read-only mapping, written a piece at a time with pwrite.
///
/// A wild pointer of a test cannot change it, and a process killed while it writes leaves either the old piece or the
/// new one, as long as a piece does not cross a page. Reads see the latest writes; their order is up to a lock around
/// both.
class SharedFile {
public:
  /// Opens an existing file for reading and writing. Throws LedgerError.
  explicit SharedFile(const std::string& path);
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  [[nodiscard]] const std::byte* data() const;
  [[nodiscard]] std::size_t size() const;

  /// Writes `size` bytes at `offset`. Throws LedgerError, also if something in this process has closed the file.
  void write(std::size_t offset, const void* data, std::size_t size);

  /// Throws LedgerError if something in this process has closed the file, so that it cannot be written any more.
  void require_writable() const { static_cast<void>(file_.number()); }

  /// Whether the file was removed since it was opened.
  [[nodiscard]] bool is_removed() const { return file_.is_removed(); }

  /// Makes a file of `size` zero bytes whose memory is really there, unlike after truncation on a full file system,
  /// where the first touch would be a SIGBUS. Readable and writable by everybody. Throws LedgerError.
  static void create(const std::string& path, std::size_t size);

private:
  struct Mapping;
  std::string path_;
  KeptDescriptor file_;
  std::unique_ptr<Mapping> mapping_;
};

} // namespace gputest::system
