// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/os/file.hpp"
#include "workers/worker_message.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace gputest::workers {

/// What a worker is asked to run.
struct WorkerJob {
  std::string filter;
  std::string report;                  ///< where GoogleTest's report goes; empty: there is none
  std::vector<std::string> variables;  ///< `NAME=value`, of this case
  std::vector<os::Descriptor> streams; ///< its client's standard streams
};

/// A worker's connection to its supervisor.
class WorkerChannel {
public:
  /// `text` is the value of GPUTEST_WORKER. nullopt if it is of another version of gputest, or refers to no socket.
  [[nodiscard]] static std::optional<WorkerChannel> open(const std::string& text);

  /// Says that this process waits for its first case.
  void tell_ready() const;

  /// Whether there is a case, or there are no more, within that time.
  [[nodiscard]] bool wait_for(std::chrono::milliseconds time) const;

  /// Waits for a case. nullopt when there are no more, or as soon as the descriptor `leave` is readable.
  [[nodiscard]] std::optional<WorkerJob> receive(std::optional<int> leave) const;

  /// Says that the case begins, and makes its client's streams this process's.
  void begin(const WorkerJob& job) const;

  /// Tells the supervisor that this process begins no case any more.
  void hang_up();

  /// Replaces the case's streams by those that this process was started with: CTest waits for whoever has them open.
  void drop_streams() const;

  /// Whether the verdict could be sent. `why_last` is why this was the last case; empty: it was not.
  [[nodiscard]] bool tell_verdict(int exit_code, const std::string& why_last, WorkerMessage::Device device) const;

  /// Says that the case has to run in a process of its own.
  void ask_for_own_process(const std::string& why) const;

  /// Whether an error in another process may make a case fail here, so that no failure counts.
  [[nodiscard]] bool shares_errors() const { return shares_errors_; }

  /// The ctest whose cases it runs.
  [[nodiscard]] int ctest() const { return ctest_; }

  /// Under which its supervisor's page can be opened (os::TestStatusPage).
  [[nodiscard]] const std::string& page() const { return page_; }

  /// Why it was started.
  [[nodiscard]] const std::string& why_started() const { return why_started_; }

private:
  WorkerChannel(os::Descriptor socket, int ctest, bool shares_errors, std::string page, std::string why_started);

  os::Descriptor socket_;
  os::Descriptor null_;
  os::Descriptor output_; ///< where this process writes what belongs to no case: its supervisor reads it
  int ctest_ = 0;
  bool shares_errors_ = false;
  std::string page_;
  std::string why_started_;
};

} // namespace gputest::workers
