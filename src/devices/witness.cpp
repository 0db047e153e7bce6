#include "devices/witness.hpp"

#include "policy/strangers.hpp"
#include "system/process.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

namespace gputest::devices {

using ledger::Entry;
using policy::DeviceMask;

namespace {

bool is_on(const Entry& entry, DeviceMask device) { return (entry.claim.devices & device) != 0; }

std::uint64_t claimed_bytes(const Entry& entry, DeviceMask device) {
  const bool holds = entry.claim.stage == policy::Stage::holding && (entry.claim.wanted & device) != 0;
  return entry.claim.overhead_bytes + (holds ? entry.claim.lease_bytes : 0);
}

/// The process on the ledger that `pid` belongs to: itself or an ancestor. `pid` if there is none.
std::int64_t owner_of(std::int64_t pid, const std::vector<Entry>& entries) {
  for (std::optional ancestor = static_cast<pid_t>(pid); ancestor && *ancestor > 1;
       ancestor = system::parent_of(*ancestor)) {
    if (std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.pid == *ancestor; })) {
      return *ancestor;
    }
  }
  return pid;
}

bool mean_something_here(const std::vector<ProcessMemory>& processes) {
  return std::all_of(processes.begin(), processes.end(), [](const ProcessMemory& process) {
    return process.used_bytes && system::exists(static_cast<pid_t>(process.pid));
  });
}

class Witness : public ledger::DeviceWitness {
public:
  explicit Witness(std::shared_ptr<const DeviceList> devices) : devices_{std::move(devices)} {}

  [[nodiscard]] policy::Capacity capacity(const std::string& uuid, const std::vector<Entry>& entries,
                                          DeviceMask device) const override {
    const auto index = index_of(uuid);
    if (!index) {
      return {};
    }
    const std::uint64_t total = devices_->devices()[*index].total.count();
    const std::uint64_t reserved = std::min(total, devices_->reserved_bytes(*index));
    return {total - reserved, strangers(*index, entries, device)};
  }

  [[nodiscard]] bool is_back(const std::string& uuid, const Entry& ended, const std::vector<Entry>& entries,
                             DeviceMask device) const override {
    const auto index = index_of(uuid);
    if (!index) {
      // Another process, which sees the device, will tell. Memory of a simulated one ends with its process.
      return uuid.compare(0, 4, "SIM-") == 0;
    }
    const MemoryUse use = devices_->memory(*index);
    if (use.processes && !use.processes->empty() && mean_something_here(*use.processes)) {
      return std::none_of(use.processes->begin(), use.processes->end(),
                          [&](const ProcessMemory& process) { return process.pid == ended.pid; });
    }
    // No list, an empty one, or one of another pid namespace: then the figure decides. What the living claim may be in
    // use; any more may be the dead's, but not for longer than the dead ever keep it.
    std::uint64_t claimed = 0;
    for (const auto& entry : entries) {
      claimed += entry.slot != ended.slot && is_on(entry, device) ? claimed_bytes(entry, device) : 0;
    }
    return use.used_bytes <= claimed || seen_ended_long_ago(ended);
  }

private:
  [[nodiscard]] std::optional<std::size_t> index_of(const std::string& uuid) const {
    const auto& all = devices_->devices();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Device& device) { return device.uuid == uuid; });
    return found == all.end() ? std::nullopt : std::optional{static_cast<std::size_t>(found - all.begin())};
  }

  [[nodiscard]] std::uint64_t strangers(std::size_t index, const std::vector<Entry>& entries, DeviceMask device) const {
    const MemoryUse use = devices_->memory(index);
    std::optional<std::vector<policy::ListedProcess>> listed;
    if (use.processes) {
      listed.emplace();
      for (const auto& process : *use.processes) {
        listed->push_back(
            {owner_of(process.pid, entries), process.used_bytes, system::exists(static_cast<pid_t>(process.pid))});
      }
    }
    std::vector<policy::ClaimedMemory> claims;
    for (const auto& entry : entries) {
      if (is_on(entry, device)) {
        claims.push_back({entry.pid, claimed_bytes(entry, device)});
      }
    }
    return policy::stranger_bytes(use.used_bytes, listed, claims);
  }

  /// Whether this process has known for a while that `ended` has ended. A device has all memory back 0.12 s after a
  /// process was killed (H200); what is in use long after that is somebody else's.
  [[nodiscard]] bool seen_ended_long_ago(const Entry& ended) const {
    constexpr std::chrono::seconds long_ago{2};
    const auto now = std::chrono::steady_clock::now();
    return now - first_seen_ended_.try_emplace(ended.identity, now).first->second >= long_ago;
  }

  std::shared_ptr<const DeviceList> devices_;
  mutable std::map<std::uint64_t, std::chrono::steady_clock::time_point> first_seen_ended_;
};

} // namespace

std::shared_ptr<const ledger::DeviceWitness> make_witness(std::shared_ptr<const DeviceList> devices) {
  return std::make_shared<Witness>(std::move(devices));
}

} // namespace gputest::devices
