// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/device_probe.hpp"

#include "core/os/kernel_clock.hpp"
#include "core/os/process.hpp"
#include "core/policy/external_processes.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gputest::ledger {

using policy::DeviceMask;

namespace {

bool is_on(const Record& record, DeviceMask device) { return (record.claim.devices & device) != 0; }

std::uint64_t claimed_bytes(const Record& record, DeviceMask device) {
  const bool holds = record.claim.stage == policy::Stage::holding && (record.claim.wanted & device) != 0;
  return policy::sum(record.claim.overhead_bytes, holds ? record.claim.lease_bytes : 0);
}

/// A process in the driver's list, with what says whose it is.
struct SeenProcess {
  std::vector<std::int64_t> family; ///< its pid, its parent's, and so on
  std::string parent_lease;         ///< its GPUTEST_LEASE_OF; empty if it has none, or belongs to another user
  std::optional<std::uint64_t> start_time;
  std::optional<std::uint64_t> used_bytes;
  bool known_here = false; ///< whether that pid means anything in this process's pid namespace
};

SeenProcess identify(const devices::ProcessMemory& listed) {
  SeenProcess seen;
  seen.used_bytes = listed.used_bytes;
  seen.known_here = os::exists(static_cast<pid_t>(listed.pid));
  seen.start_time = os::start_time_of(static_cast<pid_t>(listed.pid));
  seen.family.push_back(listed.pid);
  for (auto ancestor = os::parent_of(static_cast<pid_t>(listed.pid)); ancestor && *ancestor > 1;
       ancestor = os::parent_of(*ancestor)) {
    seen.family.push_back(*ancestor);
  }
  seen.parent_lease = os::variable_of(static_cast<pid_t>(listed.pid), "GPUTEST_LEASE_OF").value_or("");
  return seen;
}

/// Whether a process in the driver's list means something here. A pid that no process has may be one of another pid
/// namespace, unless it is on the ledger: then its process has ended, and the device still has memory of it.
bool is_known(const SeenProcess& process, const std::vector<Record>& records) {
  return process.known_here || std::any_of(records.begin(), records.end(),
                                           [&](const Record& record) { return record.pid == process.family.front(); });
}

/// The process on the ledger that one in the driver's list belongs to: itself, an ancestor, or the one under whose
/// lease it was started by somebody else, as an MPI rank is by Slurm's daemon. Its own pid if there is none.
std::int64_t owner_of(const SeenProcess& process, const std::vector<Record>& records) {
  const auto find = [&](auto is_it) {
    const auto found = std::find_if(records.begin(), records.end(), is_it);
    return found == records.end() ? std::nullopt : std::optional{found->pid};
  };
  for (const std::int64_t pid : process.family) {
    if (const auto owner = find([&](const Record& record) { return record.pid == pid; })) {
      return *owner;
    }
  }
  const std::int64_t own = process.family.front();
  return process.parent_lease.empty()
             ? own
             : find([&](const Record& record) { return credential_of(record) == process.parent_lease; }).value_or(own);
}

/// Whether a process that the driver lists is the ended one: another process may have got its pid.
bool is_the_same(const SeenProcess& listed, const Record& ended) {
  return listed.family.front() == ended.pid &&
         (ended.start_time == 0 || !listed.start_time || *listed.start_time == ended.start_time);
}

/// When the ends of processes were seen first, by their identities.
using EndsSeen = std::map<std::uint64_t, os::KernelClock::time_point>;

class BackendObservation : public Observation {
public:
  /// A device that is not in the list.
  explicit BackendObservation(const std::string& uuid)
      : ends_with_its_process_{uuid.compare(0, 4, "SIM-") == 0 && uuid.find("-late-") == std::string::npos} {}

  BackendObservation(const devices::DeviceList& devices, std::size_t index, policy::DeviceFacts facts,
                     std::shared_ptr<EndsSeen> ends_seen, std::chrono::milliseconds long_ago)
      : in_list_{true}, total_bytes_{devices.devices()[index].total.count()},
        reserved_bytes_{std::min(total_bytes_, devices.reserved_bytes(index))},
        set_aside_bytes_{devices.set_aside_bytes(index)}, facts_{std::move(facts)},
        ends_seen_{std::move(ends_seen)}, long_ago_{long_ago} {
    const devices::MemoryUse use = devices.memory(index);
    used_bytes_ = use.used_bytes;
    if (use.processes) {
      processes_.emplace();
      std::transform(use.processes->begin(), use.processes->end(), std::back_inserter(*processes_), identify);
    }
  }

  [[nodiscard]] policy::Capacity capacity(const std::vector<Record>& records, DeviceMask device) const override {
    if (!in_list_ || !policy::why_unusable(facts_).empty()) {
      return {};
    }
    // External processes take what no decision counts on first.
    const std::uint64_t external = this->external(records, device);
    return {total_bytes_ - reserved_bytes_, external - std::min(external, set_aside_bytes_),
            policy::most_processes(facts_)};
  }

  [[nodiscard]] bool is_back(const Record& ended, const std::vector<Record>& records) const override {
    if (!in_list_) {
      return ends_with_its_process_; // else another process, which sees the device, will tell
    }
    const auto any_listed = [&](auto is_it) {
      return processes_ && std::any_of(processes_->begin(), processes_->end(), is_it);
    };
    // The driver's pids mean something here if they are of this process's pid namespace. One of a process that has just
    // ended proves nothing.
    const bool are_pids_of_here = any_listed([](const SeenProcess& process) { return process.known_here; });
    if (are_pids_of_here) {
      const bool is_listed = any_listed([&](const SeenProcess& process) { return is_the_same(process, ended); });
      if (is_listed || !any_listed([&](const SeenProcess& process) { return !is_known(process, records); })) {
        return !is_listed;
      }
    }
    // No list, an empty one, one of another pid namespace, or one with a process that has ended, which the dead one may
    // have started. What is in use may be the dead's as well as that of the living, who need not have allocated what
    // they claim.
    const auto first_seen = ends_seen_->try_emplace(ended.identity, observed_at_).first->second;
    return used_bytes_ <= ledger::bytes_of_an_unused_device || observed_at_ - first_seen >= long_ago_;
  }

  [[nodiscard]] std::vector<std::uint64_t> over_lease_bytes(const std::vector<Record>& records,
                                                            DeviceMask device) const override {
    const auto beyond = policy::over_lease_bytes(listed(records), claims(records, device));
    std::vector<std::uint64_t> by_record;
    by_record.reserve(records.size());
    auto next = beyond.begin();
    for (const auto& record : records) { // claims() leaves out those that are not on the device
      by_record.push_back(is_on(record, device) && next != beyond.end() ? *next++ : 0);
    }
    return by_record;
  }

private:
  [[nodiscard]] std::uint64_t external(const std::vector<Record>& records, DeviceMask device) const {
    const auto unlisted = facts_.shares_host_memory ? policy::Unlisted::others : policy::Unlisted::may_be_ours;
    return policy::external_bytes(used_bytes_, listed(records), claims(records, device), unlisted);
  }

  [[nodiscard]] std::optional<std::vector<policy::ListedProcess>> listed(const std::vector<Record>& records) const {
    if (!processes_) {
      return std::nullopt;
    }
    std::vector<policy::ListedProcess> listed;
    for (const SeenProcess& process : *processes_) {
      listed.push_back({owner_of(process, records), process.used_bytes, is_known(process, records)});
    }
    return listed;
  }

  [[nodiscard]] static std::vector<policy::ClaimedMemory> claims(const std::vector<Record>& records,
                                                                 DeviceMask device) {
    std::vector<policy::ClaimedMemory> claims;
    for (const auto& record : records) {
      if (is_on(record, device)) {
        claims.push_back({record.pid, claimed_bytes(record, device)});
      }
    }
    return claims;
  }

  bool in_list_ = false;
  bool ends_with_its_process_ = false; ///< memory of a device that is not in the list
  std::uint64_t total_bytes_ = 0;
  std::uint64_t reserved_bytes_ = 0;
  std::uint64_t set_aside_bytes_ = 0;
  policy::DeviceFacts facts_;
  std::shared_ptr<EndsSeen> ends_seen_;
  std::chrono::milliseconds long_ago_{};
  os::KernelClock::time_point observed_at_ = os::KernelClock::now();
  std::uint64_t used_bytes_ = 0;
  std::optional<std::vector<SeenProcess>> processes_;
};

class BackendProbe : public DeviceProbe {
public:
  BackendProbe(std::shared_ptr<const devices::DeviceList> devices, std::chrono::milliseconds long_ago)
      : devices_{std::move(devices)}, long_ago_{long_ago} {
    for (std::size_t i = 0; i < devices_->devices().size(); ++i) {
      facts_.push_back(devices_->facts(i, devices::AskDriver::no));
    }
  }

  [[nodiscard]] std::shared_ptr<const Observation> observe(const std::string& uuid) const override {
    const std::size_t index = index_of(uuid);
    return index == facts_.size()
               ? std::make_shared<BackendObservation>(uuid)
               : std::make_shared<BackendObservation>(*devices_, index, facts_[index], ends_seen_, long_ago_);
  }

  [[nodiscard]] std::optional<policy::Capacity> least_capacity(const std::string& uuid) const override {
    const std::size_t index = index_of(uuid);
    if (index == facts_.size() || !policy::why_unusable(facts_[index]).empty()) {
      return std::nullopt;
    }
    const std::uint64_t total = devices_->devices()[index].total.count();
    const std::uint64_t used = devices_->used_bytes(index);
    return policy::Capacity{total - std::min(total, devices_->reserved_bytes(index)),
                            used - std::min(used, devices_->set_aside_bytes(index)),
                            policy::most_processes(facts_[index])};
  }

private:
  /// Their number if it is not in the list.
  [[nodiscard]] std::size_t index_of(const std::string& uuid) const {
    const auto& all = devices_->devices();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Device& device) { return device.uuid == uuid; });
    return static_cast<std::size_t>(found - all.begin());
  }

  std::shared_ptr<const devices::DeviceList> devices_;
  std::vector<policy::DeviceFacts> facts_; ///< of the devices, by the same index
  std::chrono::milliseconds long_ago_;
  std::shared_ptr<EndsSeen> ends_seen_ = std::make_shared<EndsSeen>(); ///< used under the ledger's mutex
};

} // namespace

std::string name_of_owner(std::int64_t pid, const std::vector<Record>& records) {
  const auto owner = owner_of(identify({pid, std::nullopt}), records);
  const auto found =
      std::find_if(records.begin(), records.end(), [&](const Record& record) { return record.pid == owner; });
  return found == records.end() ? "" : found->who;
}

std::shared_ptr<const DeviceProbe> make_probe(std::shared_ptr<const devices::DeviceList> devices,
                                              std::chrono::milliseconds long_ago) {
  return std::make_shared<BackendProbe>(std::move(devices), long_ago);
}

} // namespace gputest::ledger
