// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gputest::insights {

/// A device of a run.
struct LoggedDevice {
  std::string uuid;
  std::string name;
  std::uint64_t bytes = 0;
  std::uint64_t usable_bytes = 0; ///< what a process may have of it, with its context; 0: not known
};

/// A lease, from its request to its end. Times are Unix seconds.
struct LoggedLease {
  std::string entry;
  std::string test; ///< within the entry; empty: all of it
  std::int64_t pid = 0;
  std::uint64_t bytes = 0; ///< of each device; if it is of whole devices, all that its process may have of the largest
  bool whole_devices = false;
  std::string memory_class;
  std::vector<std::string> devices; ///< UUIDs
  double asked = 0;
  double begun = 0;
  double ended = 0;
  bool open_ended = false; ///< its process was killed, or became another program: `ended` is its last sign
  bool running = false;    ///< open_ended, and its process runs: `ended` is the time at which the log was read
  std::string evidence = "unknown";
  std::map<std::string, std::uint64_t> peaks; ///< by device: bytes, where they were measured
  std::uint64_t overhead_bytes = 0;           ///< of its process
};

/// A process's time on its devices.
struct LoggedProcess {
  std::string entry;
  std::int64_t pid = 0;
  std::vector<std::string> devices;
  std::uint64_t overhead_bytes = 0;
  double asked = 0;
  double begun = 0;
  double ended = 0;
  bool open_ended = true;
  bool running = false; ///< as LoggedLease::running
  bool under_a_lease = false;
  bool worker = false;     ///< it ran cases of several entries
  std::string why_started; ///< of a worker; empty: not known
  std::optional<int> exit;
  int signal = 0;      ///< that ended the launcher's command; 0: none
  std::string program; ///< its path; empty: not known
};

/// A wait of more than a second.
struct LoggedWait {
  std::string entry;
  std::string test;
  std::int64_t pid = 0;
  std::string what;
  double noticed = 0;                ///< a second after it began
  double waited = 0;                 ///< in all; 0: it did not end
  std::vector<std::string> blockers; ///< tests or commands
  bool external = false;
  bool in_vain = false;             ///< it ended without what it waited for
  std::uint64_t external_bytes = 0; ///< of a device; 0: not known
};

struct LoggedTest {
  std::string entry;
  std::string test;
  std::string result; ///< `passed`, `failed`, `skipped`
  double seconds = 0;
  std::string reason; ///< of a skip or a failure
  double ended = 0;
  std::int64_t pid = 0;
  std::string file{}; ///< the source of a GoogleTest test; empty: not known
  std::uint64_t line = 0;
};

struct LoggedSkip {
  std::string entry;
  std::string test;
  std::string reason;
  std::string memory_class{}; ///< empty: a log of an earlier gputest
};

/// Something that a test did wrong: an overuse, a leak, an error of CUDA, running out of memory. And what made its
/// entry run again, which is nobody's mistake.
struct LoggedProblem {
  std::string entry;
  std::string test;
  std::string kind; ///< the event, or `ran again`
  std::string text;
};

/// What the log of one run says.
struct RunLog {
  std::string path; ///< where it was read; empty: not in a file
  double begun = 0; ///< first and last line
  double ended = 0;
  std::string host;
  std::string gputest;
  std::string run_mode;
  std::string folder;          ///< where ctest ran
  std::uint64_t ctest_log = 0; ///< FileStamp::id of ctest's own log; 0: not known
  std::optional<std::set<std::string>>
      failed;                            ///< entries, as ctest says; nullopt: not known. Only a merged log says it
  std::map<std::string, double> seconds; ///< of entries, as ctest says. No log says it
  std::set<std::string> skipped;         ///< entries, by their SKIP_REGULAR_EXPRESSION, as ctest says. No log says it
  std::optional<std::uint64_t> jobs;
  std::uint64_t ctest_pid = 0; ///< 0: no ctest
  std::uint64_t ctest_start = 0;
  bool running = false;              ///< whether that ctest has not ended; no log says it
  bool end_is_known = false;         ///< `ended` is when ctest has closed its own log; no log says it
  std::vector<LoggedDevice> devices; ///< each once
  std::vector<LoggedProcess> processes;
  std::vector<LoggedLease> leases;
  std::vector<LoggedWait> waits;
  std::vector<LoggedTest> tests;
  std::vector<LoggedSkip> skips;
  std::vector<LoggedProblem> problems;
  std::size_t events = 0;
  std::size_t unreadable_lines = 0; ///< cut by a kill, or damaged
};

/// Reads a log. Where no ctest ran, as in a session of pytest, each test is an entry. Events and keys that are not
/// known are left out, and lines that are no JSON objects are counted. A value of another type than the log has reads
/// as missing. Throws Error for another version than this reader's.
[[nodiscard]] RunLog parse_run_log(const std::string& text);

} // namespace gputest::insights
