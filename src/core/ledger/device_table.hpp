// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/ledger/storage/slot_store.hpp"
#include "core/policy/admission.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gputest::ledger {

/// The devices that the ledger knows, each with a bit for use in claims. Grows, never shrinks.
///
/// Every user's part of the store has a table of its own, which the masks in its records refer to. The bits outside the
/// store are this process's own numbering of them all.
class DeviceTable {
public:
  /// Throws LedgerError.
  explicit DeviceTable(os::SlotStore& store);

  /// The bit of a device; registers it if it is new. Takes the mutex. Throws LedgerError if the table (64 devices) is
  /// full.
  [[nodiscard]] policy::DeviceMask bit_of(const std::string& uuid);

  /// UUID of the device with bit `index`; empty if there is none. What is there once never changes. Any thread.
  [[nodiscard]] std::string uuid(std::size_t index) const;

  /// What a process of an executable that is not known takes by itself on the worst of these devices; 0 if nobody has
  /// measured it.
  [[nodiscard]] std::uint64_t overhead_bytes(policy::DeviceMask devices) const;

  /// What earlier processes of `executable` took by themselves on the worst of these devices; 0 if that is not known.
  ///
  /// 128 executables are remembered for a device each; the least recently used is forgotten.
  [[nodiscard]] std::uint64_t context_bytes(std::uint64_t executable, policy::DeviceMask devices) const;

  /// Remembers what a process of `executable` (0: not known) takes by itself: the most that any has taken for its
  /// own successors, and for executables that are not known a figure that rises at once and falls slowly.
  void remember(std::uint64_t executable, policy::DeviceMask devices, std::uint64_t bytes);

  /// overhead_bytes() without the mutex, for people.
  [[nodiscard]] std::uint64_t measured_overhead(policy::DeviceMask devices) const;

  /// Devices in the numbering of a part of the store as this process's bits; those that its table lacks are left out.
  /// Under the mutex.
  [[nodiscard]] policy::DeviceMask from_part(std::size_t part, policy::DeviceMask stored);

  /// The other way round, for this user's part. Under the mutex.
  [[nodiscard]] policy::DeviceMask to_own_part(policy::DeviceMask devices) const;

private:
  struct Place;
  [[nodiscard]] Place find_place(std::uint64_t executable, std::size_t device) const;
  static constexpr std::size_t most = 64;      ///< bits of a DeviceMask
  static constexpr std::size_t of_others = 48; ///< what others have registered never takes the last bits from this user

  void load(std::size_t part);
  [[nodiscard]] std::size_t own_row(std::size_t bit) const;
  [[nodiscard]] std::size_t known() const { return known_.load(std::memory_order_acquire); }
  [[nodiscard]] std::size_t find(const std::string& uuid) const;
  [[nodiscard]] std::size_t find_or_add(const std::string& uuid, std::size_t limit);

  os::SlotStore* store_;
  std::array<std::string, most> uuids_; ///< by this process's bits; the first known_ never change
  std::atomic<std::size_t> known_{0};
  std::map<std::size_t, std::vector<std::size_t>> rows_; ///< by part and row: the bit, or `most` where it has none
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
