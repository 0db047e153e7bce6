#pragma once

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

  /// Writes `size` bytes at `offset`. Throws LedgerError.
  void write(std::size_t offset, const void* data, std::size_t size);

  /// Makes a file of `size` zero bytes whose memory is really there, unlike after truncation on a full file system,
  /// where the first touch would be a SIGBUS. Readable and writable by everybody. Throws LedgerError.
  static void create(const std::string& path, std::size_t size);

private:
  struct Mapping;
  std::string path_;
  int descriptor_ = -1;
  std::unique_ptr<Mapping> mapping_;
};

} // namespace gputest::system
