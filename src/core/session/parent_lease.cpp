// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/parent_lease.hpp"

#include "core/os/process.hpp"
#include "core/policy/mpi_rank.hpp"
#include "core/policy/request.hpp"
#include "core/session/messages.hpp"
#include "core/settings/settings.hpp"

#include <algorithm>
#include <utility>

namespace gputest::session {

namespace {

using policy::Stage;

/// Whether a rank holds the lease for itself. Otherwise the process that started the ranks holds it for all of them.
bool is_of_a_rank(const ledger::Record& holder) {
  const auto read = [&](const char* name) { return os::variable_of(static_cast<pid_t>(holder.pid), name); };
  return policy::find_mpi_rank(read).has_value();
}

/// The devices of its lease; without a lease, all its devices.
policy::DeviceMask devices_of(const policy::Claim& claim) {
  return claim.stage == Stage::holding ? claim.wanted : claim.devices;
}

} // namespace

ParentLease::ParentLease(ledger::Record holder, std::vector<Device> devices, std::vector<std::size_t> indices,
                         const std::optional<MpiRank>& rank)
    : holder_{std::move(holder)}, devices_{std::move(devices)}, indices_{std::move(indices)} {
  if (rank && !is_of_a_rank(holder_)) {
    rank_ = rank;
    ranks_ = policy::ranks_on_a_device(*rank_, indices_.size());
  }
}

std::optional<ParentLease> ParentLease::find(const Settings& settings, ledger::Ledger& ledger,
                                             const devices::DeviceList& machine) {
  const auto holder =
      settings.lease_of == settings::lease_above ? ledger.holder_above() : ledger.holder_of(settings.lease_of);
  if (!holder) {
    return std::nullopt;
  }
  const policy::DeviceMask held = devices_of(holder->claim);
  std::vector<Device> devices;
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < machine.devices().size(); ++i) {
    if ((ledger.devices().bit_of(machine.devices()[i].uuid) & held) != 0) {
      devices.push_back(machine.devices()[i]);
      indices.push_back(i);
    }
  }
  return indices.empty() ? std::nullopt
                         : std::optional{ParentLease{*holder, std::move(devices), std::move(indices), settings.rank}};
}

std::vector<std::size_t> ParentLease::devices_among(const std::vector<std::size_t>& allowed) const {
  std::vector<std::size_t> own;
  std::copy_if(allowed.begin(), allowed.end(), std::back_inserter(own),
               [&](std::size_t index) { return std::find(indices_.begin(), indices_.end(), index) != indices_.end(); });
  if (rank_ && !own.empty()) {
    own = {own[static_cast<std::size_t>(rank_->local_rank) % own.size()]};
  }
  return own;
}

Bytes ParentLease::smallest() const {
  const auto device = std::min_element(devices_.begin(), devices_.end(),
                                       [](const Device& a, const Device& b) { return a.total < b.total; });
  return device->total;
}

/// What is leased of each device.
Bytes ParentLease::leased() const { return bytes().value_or(smallest() - Bytes{holder_.claim.overhead_bytes}); }

Request ParentLease::share_of(Request entry) const {
  if (entry.is_estimated()) { // the holder has said it
    entry.memory_class = MemoryClass::small;
    entry.bytes.reset();
  }
  if (rank_) {
    entry.gpus = 1;
    entry.memory_class = MemoryClass::small;
    entry.bytes = policy::share_of(leased(), Bytes{holder_.claim.overhead_bytes}, ranks_);
  }
  return entry;
}

Outcome ParentLease::check(const Request& request) const {
  const auto& claim = holder_.claim;
  const auto memory = policy::to_memory_request(request, smallest());
  const bool holding = claim.stage == Stage::holding;
  if (holding && request.is_estimated()) { // nobody has said that it needs more
    return {};
  }
  if (ranks_ == 1) {
    const bool fits =
        memory.medium_lock && !claim.exclusive
            ? claim.medium_lock
            : !memory.whole_device() && (claim.exclusive || !memory.exclusive) && memory.bytes <= leased();
    return holding && (!bytes() || fits) ? Outcome{} : beyond(request);
  }
  const Bytes each = memory.whole_device() ? smallest() : memory.bytes;
  const Bytes needed = policy::lease_of_ranks(each, Bytes{claim.overhead_bytes}, ranks_);
  if (holding && needed <= leased()) {
    return {};
  }
  return {Outcome::Kind::fail,
          beyond_share(to_string(request), needed, leased(), *rank_, ranks_, devices_.size(), holder_)};
}

Outcome ParentLease::beyond(const Request& request) const {
  return {Outcome::Kind::fail, beyond_parent_lease(request, holder_)};
}

std::string ParentLease::shared_with() const { return rank_ ? "" : shares_parent_lease(holder_); }

Outcome ParentLease::nothing_left(const std::string& restriction) const {
  return {Outcome::Kind::fail, "this process runs under the lease of " + describe(holder_) + " on " +
                                   describe(devices_) + ", and " + restriction +
                                   " leaves it none of these devices. Leave the variable as gputest has set it: it "
                                   "gives each MPI rank a device of its own"};
}

} // namespace gputest::session
