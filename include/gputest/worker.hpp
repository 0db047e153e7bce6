// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace gputest::detail {

/// A process that runs one case after another, each as if it were a process of its own: its environment, its standard
/// streams, its entry of CTest. For the adapters to test frameworks.
///
/// It is a worker (GPUTEST_WORKER), which a supervisor gives the cases; or it runs the cases of a list (GPUTEST_CASES),
/// to repeat what a worker did.
class Worker {
public:
  /// nullptr in every other process. Reads and removes the variables the first time; not while other threads read the
  /// environment.
  [[nodiscard]] static Worker* of_process();

  /// Blocks until there is a case, and makes its environment, streams and entry this process's. Returns what selects
  /// it; nullopt when there are no more.
  [[nodiscard]] std::optional<std::string> next_case();

  /// Whether it announces the memory of each case before that begins (Session). Else all is to be announced at first.
  [[nodiscard]] bool announces_each_case() const;

  /// The case cannot run here: its client runs it in a process of its own.
  void ask_for_own_process(const std::string& why);

  /// The case has ended. It is the worker's last if it failed, or if it has changed the process for those after it,
  /// which is said on stderr: `changed` is what it has changed of the framework, empty if nothing. A last case's
  /// streams stay until the process has ended. False in a process that the case has forked, which has no verdict to
  /// tell and ends as main() does. Does not throw.
  [[nodiscard]] bool end_case(int exit_code, const std::string& changed) noexcept;

  /// What main() returns after the last case.
  [[nodiscard]] int exit_code() const;

private:
  Worker();
  struct State;
  std::shared_ptr<State> state_;
};

} // namespace gputest::detail
