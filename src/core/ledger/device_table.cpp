// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/device_table.hpp"

#include "core/ledger/stored_record.hpp"
#include "core/policy/text.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <mutex>

namespace gputest::ledger {

using policy::DeviceMask;

DeviceTable::DeviceTable(os::SlotStore& store) : store_{&store} {
  static_assert(most == max_devices);
  os::read_without_mutex([&] { load(0); });
}

/// Reads the rows of a part that were not there the last time.
void DeviceTable::load(std::size_t part) {
  if (!store_->has_part(part)) {
    return;
  }
  if (rows_.find(part) == rows_.end()) { // of parts that are gone nobody asks again
    for (auto known = rows_.begin(); known != rows_.end();) {
      known = store_->has_part(known->first) ? std::next(known) : rows_.erase(known);
    }
  }
  auto& rows = rows_[part];
  while (rows.size() < most) {
    const std::string uuid = text(store_->read_row<DeviceRow>(rows.size(), part).uuid);
    if (uuid.empty()) {
      return;
    }
    rows.push_back(find_or_add(uuid, part == 0 ? most : of_others));
  }
}

std::size_t DeviceTable::find(const std::string& uuid) const {
  const auto* const end = uuids_.begin() + known();
  const auto* const found = std::find(uuids_.begin(), end, uuid);
  return found == end ? most : static_cast<std::size_t>(found - uuids_.begin());
}

std::size_t DeviceTable::find_or_add(const std::string& uuid, std::size_t limit) {
  std::size_t bit = find(uuid);
  if (bit == most && known() < limit) {
    bit = known();
    uuids_.at(bit) = uuid;
    known_.store(bit + 1, std::memory_order_release);
  }
  return bit;
}

DeviceMask DeviceTable::bit_of(const std::string& uuid) {
  const std::lock_guard guard{store_->mutex()};
  load(0);
  const std::size_t bit = find_or_add(uuid, most);
  auto& rows = rows_[0];
  if (bit == most || (rows.size() == most && std::find(rows.begin(), rows.end(), bit) == rows.end())) {
    throw LedgerError{store_->path() + " knows " + std::to_string(most) + " devices already and has no room for " +
                      uuid + "; when no GPU test is running, remove that folder"};
  }
  if (std::find(rows.begin(), rows.end(), bit) == rows.end()) {
    DeviceRow row;
    std::copy_n(uuid.begin(), std::min(uuid.size(), row.uuid.size() - 1), row.uuid.begin());
    store_->write_row(rows.size(), row);
    rows.push_back(bit);
  }
  return DeviceMask{1} << bit;
}

std::string DeviceTable::uuid(std::size_t index) const { return index < known() ? uuids_.at(index) : std::string{}; }

DeviceMask DeviceTable::from_part(std::size_t part, DeviceMask stored) {
  DeviceMask devices = 0;
  for_each_device(stored, [&](std::size_t row) {
    if (rows_.find(part) == rows_.end() || row >= rows_[part].size()) {
      load(part);
    }
    const auto rows = rows_.find(part);
    if (rows != rows_.end() && row < rows->second.size() && rows->second[row] != most) {
      devices |= DeviceMask{1} << rows->second[row];
    }
  });
  return devices;
}

/// The row of the device with this bit in this user's part, or `most` if it has none there.
std::size_t DeviceTable::own_row(std::size_t bit) const {
  const auto rows = rows_.find(0);
  const std::size_t end = rows == rows_.end() ? 0 : rows->second.size(); // 0: this user's part is not made yet
  for (std::size_t row = 0; row < end; ++row) {
    if (rows->second[row] == bit) {
      return row;
    }
  }
  return most;
}

DeviceMask DeviceTable::to_own_part(DeviceMask devices) const {
  DeviceMask stored = 0;
  for_each_device(devices, [&](std::size_t bit) {
    const std::size_t row = own_row(bit);
    stored |= row == most ? 0 : DeviceMask{1} << row;
  });
  return stored;
}

std::uint64_t DeviceTable::overhead_bytes(DeviceMask devices) const {
  const std::lock_guard guard{store_->mutex()};
  return measured_overhead(devices);
}

std::uint64_t DeviceTable::measured_overhead(DeviceMask devices) const {
  std::uint64_t bytes = 0;
  for_each_device(to_own_part(devices),
                  [&](std::size_t row) { bytes = std::max(bytes, store_->read_row<DeviceRow>(row).overhead_bytes); });
  return bytes;
}

/// Where in the table the row of an executable is, or is to be.
struct DeviceTable::Place {
  std::size_t index = 0;
  ContextRow row; ///< `bytes` is 0 if there is none yet
};

/// Under the mutex.
DeviceTable::Place DeviceTable::find_place(std::uint64_t executable, std::size_t device) const {
  constexpr std::size_t ways = 4;
  const std::string uuid = this->uuid(device);
  const std::uint64_t of_device = policy::fnv1a(uuid);
  const std::size_t sets = max_contexts / ways;
  const std::size_t first = max_devices + policy::fnv1a(uuid + " " + std::to_string(executable)) % sets * ways;

  Place oldest;
  oldest.row.used_at = INT64_MAX;
  for (std::size_t index = first; index < first + ways; ++index) {
    const auto row = store_->read_row<ContextRow>(index);
    if (row.executable == executable && row.device == of_device) {
      return {index, row};
    }
    if (row.used_at < oldest.row.used_at) {
      oldest = {index, row};
    }
  }
  oldest.row = {};
  oldest.row.executable = executable;
  oldest.row.device = of_device;
  return oldest;
}

std::uint64_t DeviceTable::context_bytes(std::uint64_t executable, DeviceMask devices) const {
  const std::lock_guard guard{store_->mutex()};
  std::uint64_t bytes = 0;
  if (store_->has_part(0)) {
    for_each_device(devices, [&](std::size_t bit) { bytes = std::max(bytes, find_place(executable, bit).row.bytes); });
  }
  return executable == 0 ? 0 : bytes;
}

void DeviceTable::remember(std::uint64_t executable, DeviceMask devices, std::uint64_t bytes) {
  constexpr std::uint64_t share_of_fall = 8;
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  const std::lock_guard guard{store_->mutex()};
  for_each_device(devices, [&](std::size_t bit) {
    const std::size_t index = own_row(bit);
    if (index == most) {
      return;
    }
    auto device = store_->read_row<DeviceRow>(index);
    const std::uint64_t before = device.overhead_bytes;
    device.overhead_bytes = bytes >= before ? bytes : before - (before - bytes) / share_of_fall;
    if (device.overhead_bytes != before) {
      store_->write_row(index, device);
    }
    if (executable != 0) {
      auto [place, row] = find_place(executable, bit);
      row.bytes = std::max(row.bytes, bytes);
      row.used_at = now.count();
      store_->write_row(place, row);
    }
  });
}

} // namespace gputest::ledger
