// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/os/file.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <sys/stat.h>
#include <sys/types.h>
#include <sys/un.h>

namespace gputest::workers {

using os::Descriptor;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

/// Where the clients and supervisors of one ctest run meet: `<user_folder()>/workers/<run>/<worker key>/`.
/// Only this user can reach it. It holds:
///
/// - `job-<time>-<pid>`: the socket of a client that waits for a worker (Job);
/// - `supervisors`: each supervisor that can take a case holds a PresenceLock of it;
/// - `cases`: likewise each client that has a case to run;
/// - `start`: locked by whoever starts a worker; not empty while that one runs its first case;
/// - `earned`: the milliseconds for which workers have run cases, less twice what their starts took;
/// - `no-workers`: why this executable cannot have workers, if it cannot;
/// - `executable`: its path; `fixtures`: those of the user that its cases require;
/// - `processes`: each supervisor holds a PresenceLock of it as long as it lives;
/// - `end`: is there when no more cases come, and has the time until which some may run once more, of Clock;
/// - `unconfirmed-<pid>`: the cases that passed in the worker of that supervisor. It is made before the first of them
///   passes, and removed when the worker has ended as it should, or when `failures` or `notes` say how else;
/// - `failures`: how workers have ended that did not end as they should;
/// - `notes`: as `failures`, of what may be the error of another process that shared a server of MPS;
/// - `long`: `+<name>` for each case that took long and had not before, `-<name>` for the reverse;
/// - `workers`: of each worker that has ended, how many cases it has run, and why it ended;
/// - `rerun`: locked by the supervisor whose cases run once more;
/// - `remarks`: what the entry that ends workers says of cases that failed only then;
/// - `reported`: the failures that the entry that ends workers has printed, as long as no other worker of that
///   executable, with these fixtures, has started.
///
/// Beside the worker keys it has the server of MPS of the run, if it has one (MpsServer), and `own-error`.
struct MeetingPlace {
  std::string path;       ///< of the worker key's folder
  std::string run_name;   ///< `<ctest's pid>-<start>-<pid namespace>`
  Descriptor ctest;       ///< a pidfd, readable when ctest has ended
  Descriptor user_folder; ///< user_folder()
  Descriptor run_folder;
  Descriptor key_folder; ///< of the worker key
  std::string problem;   ///< why there is none; empty: there is
};

/// Finds the ctest above this process, and makes the folders that are missing. Without a worker key: makes none, and
/// `key_folder` is none.
[[nodiscard]] MeetingPlace open_meeting_place(const std::string& worker_key);

/// As long as one exists, what this process makes in the run's folders has the mode that it is made with: a umask may
/// take off what the run's other processes need. For a process without threads.
class WithoutUmask {
public:
  WithoutUmask() = default;
  ~WithoutUmask() { ::umask(before_); }
  WithoutUmask(const WithoutUmask&) = delete;
  WithoutUmask& operator=(const WithoutUmask&) = delete;

private:
  mode_t before_ = ::umask(0);
};

/// Opens a folder that belongs to this user and that nobody else can reach. No descriptor if there is no such folder.
[[nodiscard]] Descriptor open_own_folder(int above, const std::string& name);

/// Opens a folder in such a one, in which only this user can have made anything. No descriptor if it is missing.
[[nodiscard]] Descriptor open_folder(int above, const std::string& name);

/// Like open_folder(), and makes the folder if it is missing. `is_new` becomes whether this process has made it.
[[nodiscard]] Descriptor make_folder(int above, const std::string& name, bool* is_new = nullptr);

/// The address of a socket in a folder, by way of /proc, because the folder's own path may be too long for an address.
/// If the name is too long as well, the address is one that does not exist.
[[nodiscard]] sockaddr_un address_in(const Descriptor& folder, const std::string& name);

/// Whether a folder has a file of that name.
[[nodiscard]] bool is_there(const Descriptor& folder, const std::string& name);

/// A file in a folder whose bytes are locked, made if it is missing. None if it cannot be used.
[[nodiscard]] Descriptor open_lock_file(const Descriptor& folder, const char* name);

/// All of a small file in a folder; empty if there is none.
[[nodiscard]] std::string contents_of(const Descriptor& folder, const std::string& name);

/// Whether a worker key's folder is of this executable, with these fixtures.
[[nodiscard]] bool is_of(const Descriptor& key_folder, const std::string& executable, const std::string& fixtures);

/// What a file has from an offset on, and the lines of a text.
[[nodiscard]] std::string read_from(const Descriptor& file, off_t offset);
[[nodiscard]] std::vector<std::string> lines_of(const std::string& text);

/// The number in such a file; 0 if there is none.
[[nodiscard]] std::chrono::milliseconds milliseconds_in(const Descriptor& folder, const std::string& name);

/// Writes that number, if there is room. In place: a file system may write what replaces a file to the disk at once.
void write_milliseconds(const Descriptor& folder, const char* name, std::chrono::milliseconds number);

/// A file that exists if a case has failed in a client of MPS by an error of its own, not by another client's.
inline constexpr const char* own_error = "own-error";

/// What the name of a supervisor's list of cases begins with.
inline constexpr const char* unconfirmed = "unconfirmed-";

/// Replaces a file in a folder as a whole. False, and errno, if there is no room for it.
bool write_file(const Descriptor& folder, const std::string& name, const std::string& text);

/// Adds to the end of a file in a folder. False if there is no room for it.
bool add_to_file(const Descriptor& folder, const char* name, const std::string& text);

/// How many cases each worker of a worker key has run that has ended, and why it has.
[[nodiscard]] std::vector<std::pair<std::size_t, std::string>> ended_workers(const Descriptor& folder);

/// Writes down that a process of the executable did not end as it should, for the entry that ends workers: what it has
/// written, and how it ended. False if there is no room for that.
[[nodiscard]] bool note_end(const Descriptor& folder, bool may_be_anothers_error, const std::string& output,
                            const std::string& how);

/// The names in a folder, but `.` and `..`.
[[nodiscard]] std::vector<std::string> names_in(const Descriptor& folder);

/// This process among those that show their presence in one file of a folder, each by the lock of a byte. A mark
/// goes with its process, however that ends.
class PresenceLock {
public:
  PresenceLock() = default;
  /// Marks this process, unless the file cannot be used.
  PresenceLock(const Descriptor& folder, const char* name);
  void set(bool marked) const;

private:
  Descriptor file_;
  pid_t process_ = 0;
};

/// Blocks until nobody is marked in the file of that name, which stays open if its name is removed.
void wait_until_none_is_present(const Descriptor& file);

/// The processes that show their presence, this one included; no more than `most` of them.
[[nodiscard]] std::vector<pid_t> present_in(const Descriptor& folder, const char* name, std::size_t most = SIZE_MAX);
[[nodiscard]] std::size_t count_present(const Descriptor& folder, const char* name);

/// How many cases of a run are running or waiting for a worker now.
[[nodiscard]] std::size_t count_cases(const Descriptor& run);

} // namespace gputest::workers
