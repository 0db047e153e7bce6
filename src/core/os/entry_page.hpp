// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/os/file.hpp"
#include "core/policy/verdict.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace gputest::os {

/// Whether valgrind runs this process.
[[nodiscard]] bool has_valgrind();

/// What the processes of an entry tell the process that watches it, in memory that they share: so neither their output
/// nor the descriptors that a test closes have a part in it. A word that was told stays, however its process ends.
///
/// The memory is a file without a name, of a sealed size: no process can make another one's access fail.
class EntryPage {
public:
  /// That of the watcher. Throws Error if there can be none.
  EntryPage();

  /// The page under a path (GPUTEST_ENTRY), for a process of the entry; null if it is gone, or of another version.
  [[nodiscard]] static std::shared_ptr<EntryPage> open(const std::string& path) noexcept;

  ~EntryPage();
  EntryPage(const EntryPage&) = delete;
  EntryPage& operator=(const EntryPage&) = delete;

  /// Under which the processes of this user can open it, as long as the watcher is alive.
  [[nodiscard]] const std::string& path() const { return path_; }

  /// How a run of tests has ended.
  enum class End { passed, failed, skipped, nothing_ran };

  void begin() const noexcept;
  void end(End how) const noexcept;
  /// gputest has failed a test. The first reason stays.
  void refuse(const std::string& why) const noexcept;
  /// The test that runs now; empty between tests.
  void set_running(const std::string& test) const noexcept;

  [[nodiscard]] policy::EntryReport report() const;

  /// For how long its processes have waited for devices, up to now: while any of them waits. A process that was killed
  /// while it waited has waited until this is asked. Only for the watcher.
  [[nodiscard]] std::chrono::nanoseconds waited() const noexcept;

  /// Whether valgrind runs the tests that have begun.
  [[nodiscard]] bool tests_have_valgrind() const noexcept;

  /// The watcher measures what its processes allocate, and tells CTest: they do not.
  void set_measured() const noexcept;
  [[nodiscard]] bool is_measured() const noexcept;

private:
  struct Words;
  EntryPage(const Descriptor& file, std::string path);
  [[nodiscard]] static Words* map(const Descriptor& file);
  friend class NotCounted;

  Descriptor file_; ///< of the watcher alone: a test may close it, and a file of the test's may get its number
  std::string path_;
  Words* words_; ///< mapped
};

/// The page of the entry for which this process runs tests; null: there is none.
void set_entry_page_of_process(std::shared_ptr<EntryPage> page);

/// The time for which one of these exists does not count towards the limit of this process's entry. Thread-safe.
class NotCounted {
public:
  NotCounted();
  ~NotCounted();
  NotCounted(const NotCounted&) = delete;
  NotCounted& operator=(const NotCounted&) = delete;

private:
  std::shared_ptr<EntryPage> page_;
  Descriptor lock_; ///< of the page's file, by which the watcher sees that this process lives
};

} // namespace gputest::os
