#include "session/enter_request.hpp"

#include "policy/memory_request.hpp"

#include <algorithm>

namespace gputest::session {

Bytes usual_context(const Choice& choice, const devices::DeviceList& machine, ledger::DeviceTable& table) {
  policy::DeviceMask all = 0;
  std::uint64_t usual = 0;
  for (const std::size_t index : choice.candidates) {
    all |= table.bit_of(machine.devices()[index].uuid);
    usual = std::max(usual, machine.usual_overhead_bytes(index));
  }
  return Bytes{std::max(usual, table.overhead_bytes(all))};
}

ledger::Ledger::EnterRequest enter_request(const Choice& choice, const Plan& plan, Bytes overhead, Bytes smallest,
                                           const policy::Settings& settings, const devices::DeviceList& machine,
                                           ledger::DeviceTable& table) {
  ledger::Ledger::EnterRequest request;
  request.gpus = static_cast<unsigned>(choice.gpus);
  request.present = choice.present;
  request.overhead_bytes = overhead.count();
  Bytes largest_device;
  for (const std::size_t index : choice.candidates) {
    request.candidates |= table.bit_of(machine.devices()[index].uuid);
    largest_device = std::max(largest_device, machine.devices()[index].total);
  }

  auto requirements = plan.requirements;
  const bool large_waits = settings.large != LargePolicy::exclude;
  if (plan.open_ended) {
    requirements.emplace_back(large_waits ? MemoryClass::large : MemoryClass::medium);
  }
  for (const auto& requirement : requirements) {
    const auto memory = policy::to_memory_request(requirement, smallest);
    const bool waits = requirement.memory_class != MemoryClass::large || large_waits;
    // What can never fit is refused when its test comes, and must not keep the others out.
    if (waits && memory.bytes + overhead <= largest_device) {
      request.largest_bytes = std::max(request.largest_bytes, memory.bytes.count());
      request.whole_devices = request.whole_devices || memory.exclusive;
    }
  }
  return request;
}

} // namespace gputest::session
