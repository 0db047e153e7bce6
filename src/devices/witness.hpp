#pragma once

#include "devices/device_list.hpp"
#include "ledger/entry.hpp"

#include <memory>

namespace gputest::devices {

/// What the devices show, in the ledger's terms: capacity, strangers' memory, and whether an ended process's is back.
///
/// A device that is not in the list (another setting, another container) has no capacity, and nothing of it is ever
/// back.
[[nodiscard]] std::shared_ptr<const ledger::DeviceWitness> make_witness(std::shared_ptr<const DeviceList> devices);

} // namespace gputest::devices
