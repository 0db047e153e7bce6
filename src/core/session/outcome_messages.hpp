// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/ledger/ledger.hpp"
#include "core/policy/run_mode.hpp"

#include <gputest/session.hpp>
#include <gputest/settings.hpp>

#include <functional>
#include <optional>
#include <string>

namespace gputest::session {

/// The run mode that the settings say, or else that of the ctest above this process.
[[nodiscard]] policy::RunModeFinding observed_run_mode(RunModeSetting setting);

/// What a process reports about its tests: their names, its waits, and the outcome of a result for a test.
class OutcomeMessages {
public:
  /// `program` names the process if CTest has given it no name. `settings` and `entry` must live longer.
  OutcomeMessages(const Settings& settings, const Entry& entry, std::string program)
      : settings_{settings}, entry_{entry}, program_{std::move(program)} {}

  /// From now on this is a rank that leases for itself. It does not wait, because ranks wait for one another.
  void set_rank(std::optional<MpiRank> rank) { rank_ = std::move(rank); }

  /// A test as CTest and GoogleTest know it: `sort_keys: Sort.Keys`, or with the program's name.
  [[nodiscard]] std::string full_name(const std::string& test) const;

  /// From now on a test's name after `option` makes this executable run that test alone; empty: no option does.
  void set_filter_option(std::string option) { filter_option_ = std::move(option); }
  void while_waiting(std::function<void(const std::string&)> on_wait) { on_wait_ = std::move(on_wait); }
  [[nodiscard]] std::string command_for(const std::string& test) const;

  /// A skip; or a failure if the settings forbid this kind of skip.
  [[nodiscard]] Outcome skip(const std::string& reason, SkipCause cause) const;

  /// A request that no device can ever hold.
  [[nodiscard]] Outcome never_fits(const std::string& who, const policy::Refusal& refusal) const;

  /// What becomes of a large test, or of a test in a large entry; any other waits.
  [[nodiscard]] policy::LargeDecision decide_large(const Request& request);

  /// Whether a test may wait for its memory; else it runs only if that is free at once.
  [[nodiscard]] bool may_wait(const Request& request);

  /// The skip of a test for which decide_large() says `exclude`.
  [[nodiscard]] Outcome excluded(const std::string& test) const;

  /// How long `test` may wait. While it waits, a line goes to stderr, the blockers go to the run log, and `printed` is
  /// set. The blockers, whose names others have chosen, are not in the output of a test of CTest's, but on an entry's
  /// page.
  [[nodiscard]] ledger::Patience patience(const std::string& test, const std::string& what, bool* printed) const;

  /// The test's outcome for the ledger's answer to a request for `what`.
  [[nodiscard]] Outcome outcome_of(const ledger::Result& result, const std::string& what,
                                   const std::string& test) const;

private:
  const Settings& settings_;
  const Entry& entry_;
  std::string program_;
  std::string filter_option_;
  std::optional<MpiRank> rank_;
  std::optional<policy::RunModeFinding> run_mode_; ///< once a large test has asked for it
  std::function<void(const std::string&)> on_wait_;
};

} // namespace gputest::session
