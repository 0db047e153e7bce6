#pragma once

#include "ledger/ledger.hpp"
#include "policy/mpi_rank.hpp"
#include "policy/settings.hpp"
#include "session/outcome.hpp"

#include <optional>
#include <string>

namespace gputest::session {

/// What a process says of its tests: their names, how it tells that it waits, and what a result means for a test.
class Answers {
public:
  /// `program` stands for the process where CTest has given it no name. `settings` must live longer.
  Answers(const policy::Settings& settings, std::string program) : settings_{settings}, program_{std::move(program)} {}

  /// From now on this is a rank that takes devices by itself: it does not wait, since ranks wait for one another.
  void set_rank(std::optional<policy::MpiRank> rank) { rank_ = std::move(rank); }

  /// A test as CTest and GoogleTest know it: `sort_keys: Sort.Keys`, or with the program's name.
  [[nodiscard]] std::string full_name(const std::string& test) const;

  /// What a person runs to have a large test alone.
  [[nodiscard]] std::string command_for(const std::string& test) const;

  /// A skip, or a failure where the settings demand that nothing of the kind is skipped.
  [[nodiscard]] Outcome skip(const std::string& reason, bool for_want_of_gpu = false) const;

  /// A request that no device can ever hold.
  [[nodiscard]] Outcome never_fits(const std::string& who, const policy::Refusal& refusal) const;

  /// How long to wait, telling on stderr for whom; `told` is set when it has told.
  [[nodiscard]] ledger::Patience patience(const std::string& who, const std::string& what, bool* told) const;

  /// What the ledger's answer to a request for `what` means for the test.
  [[nodiscard]] Outcome outcome_of(const ledger::Result& result, const std::string& what,
                                   const std::string& test) const;

private:
  const policy::Settings& settings_;
  std::string program_;
  std::optional<policy::MpiRank> rank_;
};

} // namespace gputest::session
