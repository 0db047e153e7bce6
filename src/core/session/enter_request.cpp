// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/enter_request.hpp"

#include "core/os/file_stamp.hpp"
#include "core/policy/memory_request.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace gputest::session {

namespace {

policy::DeviceMask mask_of(const Choice& choice, const devices::DeviceList& machine, ledger::DeviceTable& table) {
  policy::DeviceMask all = 0;
  for (const std::size_t index : choice.candidates) {
    all |= table.bit_of(machine.devices()[index].uuid);
  }
  return all;
}

/// The most that a process can have of each of the devices that it is going to get.
Bytes usable_of_each(const Choice& choice, const devices::DeviceList& machine) {
  std::vector<Bytes> usable;
  for (const std::size_t index : choice.candidates) {
    usable.push_back(machine.usable_bytes(index));
  }
  std::sort(usable.begin(), usable.end(), std::greater<>{});
  return choice.gpus == 0 || usable.size() < choice.gpus ? Bytes{} : usable[choice.gpus - 1];
}

} // namespace

Bytes learnt_context(const Choice& choice, const devices::DeviceList& machine, ledger::DeviceTable& table) {
  return Bytes{table.context_bytes(os::executable_identity().value_or(0), mask_of(choice, machine, table))};
}

Bytes usual_context(const Choice& choice, const devices::DeviceList& machine, ledger::DeviceTable& table) {
  std::uint64_t usual = 0;
  for (const std::size_t index : choice.candidates) {
    usual = std::max(usual, machine.usual_overhead_bytes(index));
  }
  return Bytes{std::max(usual, table.overhead_bytes(mask_of(choice, machine, table)))};
}

ledger::Ledger::EnterRequest enter_request(const Choice& choice, const Plan& plan, Bytes overhead, Bytes smallest,
                                           LargePolicy large, const devices::DeviceList& machine,
                                           ledger::DeviceTable& table) {
  ledger::Ledger::EnterRequest request;
  request.gpus = static_cast<unsigned>(choice.gpus);
  request.present = choice.present;
  request.overhead_bytes = overhead.count();
  request.candidates = mask_of(choice, machine, table);
  const Bytes most = usable_of_each(choice, machine);

  auto requests = plan.requests;
  const bool large_waits = large != LargePolicy::exclude;
  if (plan.open_ended) {
    requests.emplace_back(large_waits ? MemoryClass::large : MemoryClass::medium);
  }
  for (const auto& asked : requests) {
    const auto memory = policy::to_memory_request(asked, smallest);
    const bool waits = asked.memory_class != MemoryClass::large || large_waits;
    // A request that can never fit is refused when its test starts. It must not exclude other processes.
    if (waits && memory.bytes + overhead <= most) {
      request.largest_bytes = std::max(request.largest_bytes, memory.bytes.count());
      request.whole_devices = request.whole_devices || memory.exclusive;
    }
  }
  return request;
}

} // namespace gputest::session
