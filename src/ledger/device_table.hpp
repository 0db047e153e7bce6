#pragma once

#include "ledger/slot_store.hpp"
#include "policy/admission.hpp"

#include <string>

namespace gputest::ledger {

/// The devices that the ledger knows, each with a bit for use in claims. Grows, never shrinks.
class DeviceTable {
public:
  explicit DeviceTable(SlotStore& store) : store_{&store} {}

  /// The bit of a device; registers it if it is new. Throws LedgerError if the table (64 devices) is full.
  [[nodiscard]] policy::DeviceMask bit_of(const std::string& uuid);

  /// UUID of the device with bit `index`; empty if there is none. A row never changes once it is there.
  [[nodiscard]] std::string uuid(std::size_t index) const;

  /// What a process takes by itself on the worst of these devices, as last measured; 0 if nobody has measured it.
  [[nodiscard]] std::uint64_t overhead_bytes(policy::DeviceMask devices) const;
  void remember_overhead(policy::DeviceMask devices, std::uint64_t bytes);

private:
  SlotStore* store_;
};

/// Calls `function(index)` for each device in the set.
template <class Function>
void for_each_device(policy::DeviceMask devices, Function function) {
  for (std::size_t index = 0; devices >> index != 0; ++index) {
    if ((devices >> index & 1U) != 0) {
      function(index);
    }
    if (index == 63) { // shifting by 64 is undefined
      return;
    }
  }
}

} // namespace gputest::ledger
