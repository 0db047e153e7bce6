#pragma once

#include "devices/device_list.hpp"
#include "ledger/ledger.hpp"
#include "policy/capabilities.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace gputest::session {

/// Holds what tests require against what the machine's devices have. Devices are named by their place in the list.
///
/// The CUDA driver is asked only where nothing else can tell, and only once.
class CapableDevices {
public:
  CapableDevices(std::shared_ptr<const devices::DeviceList> machine,
                 std::shared_ptr<const ledger::DeviceWitness> witness)
      : machine_{std::move(machine)}, witness_{std::move(witness)} {}

  /// Those of `indices` that can be used at all; what is the matter with the others is appended to `unusable`.
  [[nodiscard]] std::vector<std::size_t> usable(const std::vector<std::size_t>& indices, std::string& unusable) const;

  /// Those of `indices` that have what is required and, for several of them, can reach one another's memory if that is.
  [[nodiscard]] std::vector<std::size_t> capable(const Capabilities& required, const std::vector<std::size_t>& indices,
                                                 ledger::Ledger& ledger) const;

  /// Why the devices cannot serve a test that requires this, with both sides; empty if they can.
  [[nodiscard]] std::string why_not(const Capabilities& required, const std::vector<std::size_t>& indices,
                                    ledger::Ledger& ledger) const;

private:
  [[nodiscard]] policy::Candidate candidate(const Capabilities& required, std::size_t index,
                                            ledger::Ledger& ledger) const;

  std::shared_ptr<const devices::DeviceList> machine_;
  std::shared_ptr<const ledger::DeviceWitness> witness_;
};

} // namespace gputest::session
