// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/ledger/record.hpp"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace gputest::tests {

/// An observation that a test makes up. `is_back` must ask only what was known when it was made; `capacity` may be
/// called in order to see that the ledger decides.
class Observed : public ledger::Observation {
public:
  Observed(std::function<policy::Capacity()> capacity, std::function<bool(const ledger::Record&)> is_back)
      : capacity_{std::move(capacity)}, is_back_{std::move(is_back)} {}

  [[nodiscard]] policy::Capacity capacity(const std::vector<ledger::Record>& /*entries*/,
                                          policy::DeviceMask /*device*/) const override {
    return capacity_();
  }

  [[nodiscard]] bool is_back(const ledger::Record& ended,
                             const std::vector<ledger::Record>& /*entries*/) const override {
    return is_back_(ended);
  }

private:
  std::function<policy::Capacity()> capacity_;
  std::function<bool(const ledger::Record&)> is_back_;
};

} // namespace gputest::tests
