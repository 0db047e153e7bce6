// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/ledger/record.hpp"
#include "core/ledger/storage/slot_store.hpp"
#include "core/policy/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

namespace gputest::ledger {

/// A process's line in the ledger as it lies in the file. All zero: nobody.
struct StoredRecord {
  std::uint32_t stage = 0; ///< policy::Stage
  std::uint32_t flags = 0; ///< whole_devices, exclusive, medium lock, estimated
  std::uint64_t ticket = 0;
  std::uint64_t behind = 0;   ///< ticket of the claim that it waits for
  std::uint64_t identity = 0; ///< differs between two processes that had the same slot
  std::uint64_t candidates = 0;
  std::uint64_t devices = 0;
  std::uint64_t wanted = 0;
  std::uint64_t overhead_bytes = 0;
  std::uint64_t largest_bytes = 0;
  std::uint64_t lease_bytes = 0;
  std::int64_t since_ns = 0; ///< of the system clock
  std::int64_t pid = 0;      ///< for messages, and to know the process's memory in the driver's list
  std::uint32_t uid = 0;
  std::uint32_t gpus = 0;
  std::uint64_t start_time = 0; ///< of the process: another one may get its pid
  std::array<char, 128> who{};
  std::uint64_t pids = 0; ///< os::pids_identity(): what the pid means
};
constexpr std::uint32_t stored_record_bytes = sizeof(StoredRecord) + sizeof(os::SlotStore::Checksum);
static_assert(stored_record_bytes == 256, "a record must divide a page");

/// A device's row in the table before the records. The first row without a UUID ends the table.
struct DeviceRow {
  std::array<char, 96> uuid{};
  std::uint64_t overhead_bytes = 0; ///< of a process of an unknown executable, as last measured
  std::array<char, 144> spare{};
};

/// What the processes of one executable take of one device by themselves; in the table after the devices.
struct ContextRow {
  std::uint64_t executable = 0; ///< os::executable_identity()
  std::uint64_t device = 0;     ///< made of its UUID
  std::uint64_t bytes = 0;
  std::int64_t used_at = 0; ///< seconds of the system clock: the least recently used row is replaced
  std::array<char, 216> spare{};
};
constexpr std::uint32_t row_bytes = sizeof(DeviceRow) + sizeof(os::SlotStore::Checksum);
static_assert(row_bytes == 256 && sizeof(ContextRow) == sizeof(DeviceRow), "part of the layout");

constexpr std::size_t max_devices = 64;   // bits of a DeviceMask
constexpr std::size_t max_contexts = 128; // an executable has its place in one of 32 sets of 4 rows

constexpr os::Layout ledger_layout{4, (max_devices + max_contexts) * row_bytes, stored_record_bytes, slots_of_a_user};
constexpr const char* ledger_name = "ledger-4"; // with the layout's version

/// Writes a claim and its owner as a record, and back.
///
/// Reading throws LedgerError for values that no gputest writes: a stage or flags that there are not, a time before
/// 1970. A process that is not inside has no devices, and a name is text(). The masks are of the table of the record's
/// user.
[[nodiscard]] StoredRecord to_stored(const Record& record);
[[nodiscard]] Record to_record(std::size_t slot, const StoredRecord& stored);

/// The same without the name, which only people need: most of the time that a record takes to read.
[[nodiscard]] Record to_unnamed_record(std::size_t slot, const StoredRecord& stored);

/// What stands in a field of text, for people: up to the terminator, or to the last but one byte where there is none,
/// and no character that a terminal would act on.
template <std::size_t size>
[[nodiscard]] std::string text(const std::array<char, size>& field) {
  return policy::printable({field.begin(), std::find(field.begin(), field.end() - 1, '\0')});
}

} // namespace gputest::ledger
