#include "session/cover.hpp"

#include "policy/memory_request.hpp"
#include "session/messages.hpp"
#include "session/reasons.hpp"
#include "system/environment.hpp"
#include "system/process.hpp"

#include <algorithm>
#include <utility>

namespace gputest::session {

namespace {

using policy::Stage;

/// Whether the lease was taken by a rank for itself, and not for all ranks by who started them.
bool is_of_a_rank(const ledger::Entry& holder) {
  const auto environment = system::environment_of(static_cast<pid_t>(holder.pid));
  return environment && policy::find_mpi_rank([&](const char* name) {
           const auto found = environment->find(name);
           return found == environment->end() ? std::nullopt : std::optional{found->second};
         });
}

} // namespace

Cover::Cover(ledger::Entry holder, std::vector<Device> devices, std::vector<std::size_t> indices)
    : holder_{std::move(holder)}, devices_{std::move(devices)}, indices_{std::move(indices)} {
  auto rank = policy::find_mpi_rank(system::read_variable);
  if (rank && !is_of_a_rank(holder_)) {
    rank_ = std::move(rank);
    ranks_ = policy::ranks_on_a_device(*rank_, indices_.size());
  }
}

std::optional<Cover> Cover::find(const std::string& credential, ledger::Ledger& ledger,
                                 const devices::DeviceList& machine) {
  const auto holder = ledger.holder_of(credential);
  if (!holder) {
    return std::nullopt;
  }
  const auto& claim = holder->claim;
  const policy::DeviceMask held = claim.stage == Stage::holding ? claim.wanted : claim.devices;
  std::vector<Device> devices;
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < machine.devices().size(); ++i) {
    if ((ledger.devices().bit_of(machine.devices()[i].uuid) & held) != 0) {
      devices.push_back(machine.devices()[i]);
      indices.push_back(i);
    }
  }
  return indices.empty() ? std::nullopt : std::optional{Cover{*holder, std::move(devices), std::move(indices)}};
}

std::vector<std::size_t> Cover::devices_among(const std::vector<std::size_t>& allowed) const {
  std::vector<std::size_t> own;
  std::copy_if(allowed.begin(), allowed.end(), std::back_inserter(own),
               [&](std::size_t index) { return std::find(indices_.begin(), indices_.end(), index) != indices_.end(); });
  if (rank_ && !own.empty()) {
    own = {own[static_cast<std::size_t>(rank_->local_rank) % own.size()]};
  }
  return own;
}

Bytes Cover::smallest() const {
  const auto device = std::min_element(devices_.begin(), devices_.end(),
                                       [](const Device& a, const Device& b) { return a.total < b.total; });
  return device->total;
}

/// What is leased of each device.
Bytes Cover::leased() const {
  return holder_.claim.exclusive ? smallest() - Bytes{holder_.claim.overhead_bytes} : Bytes{holder_.claim.lease_bytes};
}

Requirement Cover::share_of(Requirement entry) const {
  if (rank_) {
    entry.gpus = 1;
    entry.memory_class = MemoryClass::small;
    entry.bytes = policy::share_of(leased(), Bytes{holder_.claim.overhead_bytes}, ranks_);
  }
  return entry;
}

Outcome Cover::check(const Requirement& requirement) const {
  const auto& claim = holder_.claim;
  const auto memory = policy::to_memory_request(requirement, smallest());
  const bool holding = claim.stage == Stage::holding;
  if (ranks_ == 1) {
    const bool fits = memory.seat ? claim.seat : !memory.exclusive && memory.bytes <= Bytes{claim.lease_bytes};
    return holding && (claim.exclusive || fits)
               ? Outcome{}
               : Outcome{Outcome::Kind::fail, beyond_cover(to_string(requirement), holder_)};
  }
  const Bytes each = memory.exclusive ? smallest() : memory.bytes;
  const Bytes needed = policy::lease_for(each, Bytes{claim.overhead_bytes}, ranks_);
  if (holding && needed <= leased()) {
    return {};
  }
  return {Outcome::Kind::fail,
          beyond_share(to_string(requirement), needed, leased(), {*rank_, ranks_, devices_.size()}, holder_)};
}

Outcome Cover::nothing_left(const std::string& restriction) const {
  return {Outcome::Kind::fail, "this process runs under the lease of " + describe(holder_) + " on " +
                                   describe(devices_) + ", and " + restriction +
                                   " leaves it none of these devices. Leave the variable as gputest has set it: it "
                                   "gives each MPI rank a device of its own"};
}

} // namespace gputest::session
