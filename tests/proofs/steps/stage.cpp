// SPDX-License-Identifier: BSD-3-Clause
#include "proofs/steps/stage.hpp"

namespace gputest::tests {

Stage::Stage(bool with_ledger) : oracle_{std::make_unique<StepsOracle>(folder_.path() + "/oracle")} {
  if (with_ledger) {
    observer();
  }
}

Actor::Client Stage::place(std::size_t number) const { return {folder(), folder_.path() + "/oracle", number}; }

Actor& Stage::observer() {
  if (!observer_) {
    observer_ = std::make_unique<Actor>(place(99));
    observer_->ask("open");
  }
  return *observer_;
}

} // namespace gputest::tests
