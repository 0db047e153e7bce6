// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "proofs/steps/actor.hpp"
#include "proofs/steps/oracle.hpp"
#include "support/private_folder.hpp"

#include <memory>
#include <string>

namespace gputest::tests {

/// Where trials are played, one after the other on the same ledger: each has to leave it as good as new.
class Stage {
public:
  explicit Stage(bool with_ledger);

  [[nodiscard]] Actor::Client place(std::size_t number) const;
  [[nodiscard]] StepsOracle& oracle() { return *oracle_; }

  /// A process that never enters the ledger, and tells what stands on it.
  Actor& observer();

  [[nodiscard]] std::string folder() const { return folder_.path() + "/ledgers"; }

private:
  PrivateFolder folder_;
  std::unique_ptr<StepsOracle> oracle_;
  std::unique_ptr<Actor> observer_;
};

} // namespace gputest::tests
