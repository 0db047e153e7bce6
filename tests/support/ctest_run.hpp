// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/child_process.hpp"
#include "support/private_folder.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace gputest::tests {

/// Blocks until there is no such process any more; CTest's limit ends a test that waits in vain.
void wait_for_end_of(pid_t pid);

/// The number that the process writes behind `word`.
[[nodiscard]] pid_t number_after(ChildProcess& process, const std::string& word);

/// The processes that run a case.
struct Runners {
  pid_t worker = 0;
  pid_t supervisor = 0;
};

/// Those of the next case that begins.
[[nodiscard]] Runners runners_of_next_case(ChildProcess& ctest);

/// Where the clients and supervisors of all ctest runs of this user meet.
[[nodiscard]] std::string workers_folder();

/// The folders of a ctest run there.
[[nodiscard]] std::vector<std::string> folders_of(pid_t ctest);

/// The folder of its executable in which they meet.
[[nodiscard]] std::string meeting_folder_of(pid_t ctest);

/// What ctest says of an entry: `Passed`, `***Failed`, `***Exception: SegFault`; and what the entry wrote.
struct Result {
  std::string word;
  int times = 0; ///< that it was said
  std::string output;
  std::vector<std::string> processes; ///< the pids of those that ran it
};

/// The results by entries, of the last attempt at each.
[[nodiscard]] std::map<std::string, Result> results_of(const std::string& out);

/// A build folder, and what ctest runs in it with simulated devices.
class CTestRun {
public:
  CTestRun(); ///< with a ledger of its own

  void set(const std::string& name, const std::string& value) { environment_[name] = value; }
  void unset(const std::string& name) { environment_.erase(name); }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  [[nodiscard]] const std::string& folder() const { return folder_.path(); }
  [[nodiscard]] const ChildProcess::Environment& environment() const { return environment_; }

  /// Adds an entry as gpu_discover_tests() does.
  void add(const std::string& filter, const std::string& name = "", const std::vector<std::string>& arguments = {},
           const std::string& environment = "", const std::string& properties = "",
           const std::string& executable = CASES);

  /// Adds an entry of another program.
  void add_command(const std::string& name, const std::vector<std::string>& command,
                   const std::string& properties = "");

  /// Has Plain.meets_the_first, Plain.meets_the_other and their like meet. Those two are added if `properties` is
  /// given.
  void let_cases_meet(const std::optional<std::string>& properties = std::nullopt);

  /// Writes an executable file.
  void folder_write(const std::string& name, const std::string& text) const { folder_.write(name, text, 0755); }

  /// How many there are.
  [[nodiscard]] std::size_t entries() const { return count_; }

  /// Writes the entries. Returns what runs them.
  [[nodiscard]] std::vector<std::string> command_of_ctest(std::vector<std::string> arguments = {}) const;

  [[nodiscard]] ChildProcess start_ctest(std::vector<std::string> arguments = {}) const;
  [[nodiscard]] std::map<std::string, Result> run(const std::vector<std::string>& arguments = {}) const;

private:
  PrivateFolder folder_;
  ChildProcess::Environment environment_;
  std::string entries_;
  std::size_t count_ = 0;
};

class WorkerCase : public ::testing::Test, public CTestRun {};

} // namespace gputest::tests
