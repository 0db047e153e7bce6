// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/os/mutex.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include <csignal>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace gputest {

class LedgerError;

namespace os {

/// A file descriptor that closes itself. Never one of the standard streams' numbers: if the program was started with
/// one of them closed, the next file that is opened gets its number, and would be written to by everybody who prints.
class Descriptor {
public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_{number} {
    if (number_ >= 0 && number_ <= STDERR_FILENO) {
      number_ = ::fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
      ::close(number);
    }
  }
  Descriptor(Descriptor&& other) noexcept : number_{std::exchange(other.number_, -1)} {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) {
      ::close(number_);
    }
  }

  [[nodiscard]] int number() const { return number_; }

  /// Gives the number up without closing it.
  [[nodiscard]] int release() { return std::exchange(number_, -1); }

  explicit operator bool() const { return number_ >= 0; }

private:
  int number_ = -1;
};

/// The same file by a number above 700, for one that stays open while tests run. They, and shell scripts, open and
/// write to descriptors by numbers of their choice (`exec 9>lock`, `exec 200>&1`). Where this process may have fewer
/// (RLIMIT_NOFILE), the descriptor itself.
[[nodiscard]] Descriptor out_of_the_way(Descriptor file) noexcept;

/// Makes the kernel's table of this process's descriptors as large as out_of_the_way() wants it. In a process of one
/// thread that takes no time; one of several, such as NVML's, waits 15 ms for it (Linux 6.18).
void make_room_out_of_the_way() noexcept;

/// The kernel's reason for a failure, in words, and what to do about it if that is not obvious.
[[nodiscard]] std::string reason(int error_number);

/// "cannot <do it> <path>: <reason>".
[[nodiscard]] LedgerError failure(const std::string& to_do, const std::string& path, int error_number);

/// What is left to read of an open file; nullopt if it cannot be read.
[[nodiscard]] std::optional<std::string> read_to_end(int descriptor);

/// All of a file; nullopt if it cannot be read. For small files such as those of /proc.
[[nodiscard]] std::optional<std::string> contents_of(const std::string& path);

/// The same of a file of /proc that is one record, such as `status`, `stat`, `limits` or `cmdline`. The kernel gives as
/// much of one as is asked for, so a shorter answer is its end, and needs no second call.
[[nodiscard]] std::optional<std::string> record_of_proc(const std::string& path);

/// Those of the texts, of three bytes at least, that are in a regular file; nullopt if it is none, or cannot be read.
/// For executables and libraries: it has 256 KiB of them in memory at a time. Reads no further than to the first of
/// them if `any_will_do`.
[[nodiscard]] std::optional<std::set<std::string>> texts_in(const std::string& path, const std::set<std::string>& texts,
                                                            bool any_will_do = false);

/// Writes a text to a file that others may have open, such as a terminal. Writes nothing if that would block; no signal
/// that the write raises reaches this process: nobody reads, or it is in the terminal's background.
void write_if_ready(const Descriptor& file, const std::string& text) noexcept;

/// While one exists, a limit that a test has left (RLIMIT_FSIZE) keeps this process from writing its files only as far
/// as this user cannot raise it; then a write is an error (EFBIG), and no signal in this thread.
class WithoutFileSizeLimit {
public:
  /// To write as far as `end`. A limit beyond it stays: what another thread forks or starts meanwhile inherits it.
  explicit WithoutFileSizeLimit(std::uint64_t end) noexcept;
  ~WithoutFileSizeLimit();
  WithoutFileSizeLimit(const WithoutFileSizeLimit&) = delete;
  WithoutFileSizeLimit& operator=(const WithoutFileSizeLimit&) = delete;

private:
  std::unique_lock<Mutex> alone_; ///< who has lifted it
  rlimit limit_{};
  sigset_t mask_{};
  bool has_limit_ = false;
};

/// Makes a folder and those that it is in, if they are not there. The umask decides who else may use them; this user
/// can.
[[nodiscard]] std::error_code make_folders(const std::string& path);

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

/// A file of lines to which processes append at the same time. No descriptor is kept between two lines, because a test
/// may close it.
///
/// The file belongs to this user (0600). A link, a file of another owner and a file with several names are not used.
class LineFile {
public:
  /// Of the user that this process has now.
  LineFile(std::string folder, std::string name)
      : folder_{std::move(folder)}, name_{std::move(name)}, user_{::geteuid()} {}

  /// Makes the folder and the file. False if the file is there already. Throws Error.
  [[nodiscard]] bool create() const;

  /// Appends a line with one write(). A newline comes first, too, because a killed process may have left a part of a
  /// line at the end: so there are empty lines. Throws Error.
  void append(const std::string& line) const;

  /// Removes the oldest files of the folder that are named `<prefix>...<suffix>`, except for the newest `keep` ones.
  void remove_older(const std::string& prefix, const std::string& suffix, std::size_t keep) const noexcept;

  [[nodiscard]] std::string path() const { return folder_ + "/" + name_; }

private:
  std::string folder_;
  std::string name_;
  uid_t user_;
};

} // namespace os

} // namespace gputest
