// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/device_list.hpp"
#include "core/ledger/ledger.hpp"

#include <gputest/request.hpp>
#include <gputest/session.hpp>
#include <gputest/settings.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gputest::session {

/// The lease of another process, under which this one runs. A launcher holds it, or a test that has started this
/// process.
///
/// Such a process takes no lease of its own. It must not use other devices, or more memory, than the parent lease
/// holds. The ranks of an MPI program under a launcher share its lease: each has one of the devices, and a part of its
/// memory.
class ParentLease {
public:
  /// The lease that `settings.lease_of` names, or that of an ancestor, if its holder is alive and holds any of these
  /// devices.
  [[nodiscard]] static std::optional<ParentLease> find(const Settings& settings, ledger::Ledger& ledger,
                                                       const devices::DeviceList& machine);

  /// Those of the `allowed` devices that this process may use; none if the lease holds none of them.
  [[nodiscard]] std::vector<std::size_t> devices_among(const std::vector<std::size_t>& allowed) const;

  /// What a test that says nothing itself may use if the entry, which speaks for all ranks, says `entry`. Of an
  /// estimate no size is left, since the holder has leased what it takes; for check() it stays an estimate.
  [[nodiscard]] Request share_of(Request entry) const;

  /// Whether the lease has room for `request`, multiplied if several ranks ask for it; else the failure that says both
  /// figures and what to write.
  [[nodiscard]] Outcome check(const Request& request) const;

  /// Whether this process is one of several ranks that share it. What the entry says is for all of them.
  [[nodiscard]] bool is_of_ranks() const { return rank_.has_value(); }

  /// What it has of each device; nullopt: whole devices.
  [[nodiscard]] std::optional<Bytes> bytes() const {
    const auto& claim = holder_.claim;
    return claim.exclusive && claim.lease_bytes == 0 ? std::nullopt : std::optional{Bytes{claim.lease_bytes}};
  }

  /// The failure of a request for more than the lease has.
  [[nodiscard]] Outcome beyond(const Request& request) const;

  /// For a test that ran out of memory: who may have taken it. Empty for an MPI rank: what ranks need is added up.
  [[nodiscard]] std::string shared_with() const;

  [[nodiscard]] const ledger::Record& holder() const { return holder_; }

  /// Why this process may use no device: `restriction` excludes all devices of the lease.
  [[nodiscard]] Outcome nothing_left(const std::string& restriction) const;

private:
  ParentLease(ledger::Record holder, std::vector<Device> devices, std::vector<std::size_t> indices,
              const std::optional<MpiRank>& rank);
  [[nodiscard]] Bytes smallest() const;
  [[nodiscard]] Bytes leased() const;

  ledger::Record holder_;
  std::vector<Device> devices_;
  std::vector<std::size_t> indices_; ///< of devices_ in the machine's list
  std::optional<MpiRank> rank_;
  int ranks_ = 1; ///< on a device
};

} // namespace gputest::session
