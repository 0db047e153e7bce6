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

/// The process on the ledger that `pid` belongs to: itself, an ancestor, or the one under whose lease it was started by
/// somebody else, as an MPI rank is by Slurm's daemon. `pid` if there is none.
std::int64_t owner_of(std::int64_t pid, const std::vector<Entry>& entries) {
  const auto find = [&](auto is_it) {
    const auto found = std::find_if(entries.begin(), entries.end(), is_it);
    return found == entries.end() ? std::nullopt : std::optional{found->pid};
  };
  for (std::optional ancestor = static_cast<pid_t>(pid); ancestor && *ancestor > 1;
       ancestor = system::parent_of(*ancestor)) {
    if (const auto owner = find([&](const Entry& entry) { return entry.pid == *ancestor; })) {
      return *owner;
    }
  }
  const auto environment =
      system::environment_of(static_cast<pid_t>(pid)).value_or(std::map<std::string, std::string>{});
  const auto lease = environment.find("GPUTEST_LEASE_OF");
  if (lease == environment.end()) {
    return pid;
  }
  return find([&](const Entry& entry) { return ledger::credential_of(entry) == lease->second; }).value_or(pid);
}

/// A driver may show so much in use on a device that nobody uses; no context is as small.
constexpr std::uint64_t idle_bytes = std::uint64_t{32} << 20U;

/// Whether the driver's pids are of this process's pid namespace. One of a process that has just ended proves nothing.
bool mean_something_here(const std::vector<ProcessMemory>& processes) {
  return std::any_of(processes.begin(), processes.end(),
                     [](const ProcessMemory& process) { return system::exists(static_cast<pid_t>(process.pid)); });
}

class Witness : public ledger::DeviceWitness {
public:
  Witness(std::shared_ptr<const DeviceList> devices, std::chrono::milliseconds long_ago)
      : devices_{std::move(devices)}, long_ago_{long_ago} {
    for (std::size_t i = 0; i < devices_->devices().size(); ++i) {
      facts_.push_back(devices_->facts(i, AskDriver::no));
    }
  }

  [[nodiscard]] policy::Capacity capacity(const std::string& uuid, const std::vector<Entry>& entries,
                                          DeviceMask device) const override {
    const auto index = index_of(uuid);
    if (!index) {
      return {};
    }
    const std::uint64_t total = devices_->devices()[*index].total.count();
    const std::uint64_t reserved = std::min(total, devices_->reserved_bytes(*index));
    if (!policy::why_unusable(facts_[*index]).empty()) {
      return {};
    }
    // Strangers take what no decision counts on first.
    const std::uint64_t strangers = this->strangers(*index, entries, device);
    const std::uint64_t set_aside = devices_->set_aside_bytes(*index);
    return {total - reserved, strangers - std::min(strangers, set_aside),
            facts_[*index].compute_mode == policy::ComputeMode::exclusive_process};
  }

  [[nodiscard]] bool is_back(const std::string& uuid, const Entry& ended) const override {
    const auto index = index_of(uuid);
    if (!index) {
      // Another process, which sees the device, will tell. Memory of a simulated one ends with its process.
      return uuid.compare(0, 4, "SIM-") == 0;
    }
    const MemoryUse use = devices_->memory(*index);
    if (use.processes && mean_something_here(*use.processes)) {
      return std::none_of(use.processes->begin(), use.processes->end(),
                          [&](const ProcessMemory& process) { return process.pid == ended.pid; });
    }
    // No list, an empty one, or one of another pid namespace. What is in use may be the dead's as well as that of the
    // living, who need not have allocated what they claim.
    return use.used_bytes <= idle_bytes || seen_ended_long_ago(ended);
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
    const auto unlisted = facts_[index].shares_host_memory ? policy::Unlisted::others : policy::Unlisted::may_be_ours;
    return policy::stranger_bytes(use.used_bytes, listed, claims, unlisted);
  }

  [[nodiscard]] bool seen_ended_long_ago(const Entry& ended) const {
    const auto now = std::chrono::steady_clock::now();
    return now - first_seen_ended_.try_emplace(ended.identity, now).first->second >= long_ago_;
  }

  std::shared_ptr<const DeviceList> devices_;
  std::vector<policy::DeviceFacts> facts_; ///< of the devices, by the same index
  std::chrono::milliseconds long_ago_;
  mutable std::map<std::uint64_t, std::chrono::steady_clock::time_point> first_seen_ended_;
};

} // namespace

std::shared_ptr<const ledger::DeviceWitness> make_witness(std::shared_ptr<const DeviceList> devices,
                                                          std::chrono::milliseconds long_ago) {
  return std::make_shared<Witness>(std::move(devices), long_ago);
}

} // namespace gputest::devices
