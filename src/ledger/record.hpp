#pragma once

#include "ledger/entry.hpp"
#include "ledger/slot_store.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

namespace gputest::ledger {

/// A process's line in the ledger as it lies in the file. All zero: nobody.
struct Record {
  std::uint32_t stage = 0; ///< policy::Stage
  std::uint32_t flags = 0; ///< whole_devices, exclusive, seat
  std::uint64_t ticket = 0;
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
  std::array<char, 160> who{};
};
static_assert(sizeof(Record) == 256, "a record must divide a page");

/// A device's row in the table before the records. The first row without a UUID ends the table.
struct DeviceRow {
  std::array<char, 96> uuid{};
  std::uint64_t overhead_bytes = 0; ///< of a process, as last measured
  std::array<char, 24> spare{};
};
static_assert(sizeof(DeviceRow) == 128, "part of the layout");

constexpr std::size_t most_devices = 64; // bits of a DeviceMask

constexpr Layout ledger_layout{1, most_devices * sizeof(DeviceRow), sizeof(Record), 1024};

/// Writes a claim and its owner as a record, and back.
///
/// The file is everybody's: what no gputest writes is read as what does no harm. A stage that there is not is
/// `outside`, who is not inside has no devices, a time is not before 1970, and a name is text().
[[nodiscard]] Record to_record(const Entry& entry);
[[nodiscard]] Entry to_entry(std::size_t slot, const Record& record);

/// The same without the name, which only people need: most of the time that a record takes to read.
[[nodiscard]] Entry to_unnamed_entry(std::size_t slot, const Record& record);

/// What stands in a field of text, for people: up to the terminator, or to the last but one byte where there is none,
/// and no character that a terminal would act on.
template <std::size_t size>
[[nodiscard]] std::string text(const std::array<char, size>& field) {
  std::string text{field.begin(), std::find(field.begin(), field.end() - 1, '\0')};
  std::replace_if(
      text.begin(), text.end(), [](char c) { return (c >= '\0' && c < ' ') || c == '\x7F'; }, '?');
  return text;
}

} // namespace gputest::ledger
