// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/device_list.hpp"
#include "core/ledger/ledger.hpp"
#include "core/policy/capabilities.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace gputest::session {

/// Compares what tests require with what the machine's devices have. Devices are positions in the machine's list.
///
/// Asks the CUDA driver only if no other source knows, and only once.
class CapableDevices {
public:
  explicit CapableDevices(std::shared_ptr<const devices::DeviceList> machine) : machine_{std::move(machine)} {}

  /// Those of `indices` that can be used at all. Appends to `unusable` why the others cannot.
  [[nodiscard]] std::vector<std::size_t> usable(const std::vector<std::size_t>& indices, std::string& unusable) const;

  /// Those of `indices` that have what is required. If peer access is required, they can also reach one another's
  /// memory.
  [[nodiscard]] std::vector<std::size_t> capable(const Capabilities& required, const std::vector<std::size_t>& indices,
                                                 ledger::Ledger& ledger) const;

  /// Why the devices cannot serve a test that requires this, with both sides; empty if they can.
  [[nodiscard]] std::string why_not(const Capabilities& required, const std::vector<std::size_t>& indices,
                                    ledger::Ledger& ledger) const;

private:
  [[nodiscard]] policy::Candidate candidate(const Capabilities& required, std::size_t index,
                                            ledger::Ledger& ledger) const;

  std::shared_ptr<const devices::DeviceList> machine_;
};

} // namespace gputest::session
