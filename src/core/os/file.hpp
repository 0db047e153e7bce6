// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace gputest::os {

/// What is left to read of an open file; nullopt if it cannot be read.
[[nodiscard]] std::optional<std::string> read_to_end(int descriptor);

/// All of a file; nullopt if it cannot be read. For small files such as those of /proc.
[[nodiscard]] std::optional<std::string> contents_of(const std::string& path);

/// What tells a file from one that was written in its place. A copy may be equal, but has another `id`.
struct FileStamp {
  std::uint64_t bytes = 0;
  std::uint64_t modified = 0; ///< in nanoseconds since 1970
  std::uint64_t id = 0;       ///< of its inode and its birth, if the file system knows that: no later file has it

  friend bool operator==(const FileStamp& a, const FileStamp& b) {
    return a.bytes == b.bytes && a.modified == b.modified;
  }
};

/// nullopt if there is no such file.
[[nodiscard]] std::optional<FileStamp> stamp_of(const std::string& path);

/// A number for the program that this process runs, another one after it was built anew; never 0. nullopt where it
/// cannot be told.
[[nodiscard]] std::optional<std::uint64_t> executable_identity();

} // namespace gputest::os
