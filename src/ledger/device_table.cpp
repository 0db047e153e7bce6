#include "ledger/device_table.hpp"

#include "ledger/record.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <mutex>

namespace gputest::ledger {

using policy::DeviceMask;

DeviceMask DeviceTable::bit_of(const std::string& uuid) {
  const std::lock_guard guard{store_->mutex()};
  for (std::size_t index = 0; index < most_devices; ++index) {
    const std::string known = this->uuid(index);
    if (known.empty()) {
      DeviceRow row;
      std::copy_n(uuid.begin(), std::min(uuid.size(), row.uuid.size() - 1), row.uuid.begin());
      store_->write_row(index, row);
    }
    if (known.empty() || known == uuid) {
      return DeviceMask{1} << index;
    }
  }
  throw LedgerError{store_->path() + " knows " + std::to_string(most_devices) +
                    " devices already and has no room for " + uuid +
                    "; when no GPU test is running, remove that folder"};
}

std::string DeviceTable::uuid(std::size_t index) const { return text(store_->read_row<DeviceRow>(index).uuid); }

std::uint64_t DeviceTable::overhead_bytes(DeviceMask devices) const {
  const std::lock_guard guard{store_->mutex()};
  std::uint64_t bytes = 0;
  for_each_device(
      devices, [&](std::size_t index) { bytes = std::max(bytes, store_->read_row<DeviceRow>(index).overhead_bytes); });
  return bytes;
}

void DeviceTable::remember_overhead(DeviceMask devices, std::uint64_t bytes) {
  const std::lock_guard guard{store_->mutex()};
  for_each_device(devices, [&](std::size_t index) {
    auto row = store_->read_row<DeviceRow>(index);
    row.overhead_bytes = bytes;
    store_->write_row(index, row);
  });
}

} // namespace gputest::ledger
