#pragma once

#include "devices/device_list.hpp"
#include "ledger/ledger.hpp"
#include "policy/mpi_rank.hpp"
#include "session/outcome.hpp"

#include <gputest/requirement.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gputest::session {

/// The lease of another process, under which this one runs: a launcher's, or that of a test which has started it.
///
/// Such a process takes no lease of its own, but must not use other devices, nor more of them, than that one holds. The
/// ranks of an MPI program under a launcher share its lease: each has one of the devices, and its part of it.
class Cover {
public:
  /// The lease that `credential` (GPUTEST_LEASE_OF) names, if its holder is alive and holds any of these devices.
  [[nodiscard]] static std::optional<Cover> find(const std::string& credential, ledger::Ledger& ledger,
                                                 const devices::DeviceList& machine);

  /// Those of the `allowed` devices that this process may use; none if the lease holds none of them.
  [[nodiscard]] std::vector<std::size_t> devices_among(const std::vector<std::size_t>& allowed) const;

  /// What a test that says nothing itself may use where the entry, which is told of all ranks, says `entry`.
  [[nodiscard]] Requirement share_of(Requirement entry) const;

  /// Whether the lease has room for `requirement`, asked for by each of the ranks if there are several; else the
  /// failure that says both figures and what to write.
  [[nodiscard]] Outcome check(const Requirement& requirement) const;

  /// Why this process may use no device at all: `restriction` leaves it none of the lease's.
  [[nodiscard]] Outcome nothing_left(const std::string& restriction) const;

private:
  Cover(ledger::Entry holder, std::vector<Device> devices, std::vector<std::size_t> indices);
  [[nodiscard]] Bytes smallest() const;
  [[nodiscard]] Bytes leased() const;

  ledger::Entry holder_;
  std::vector<Device> devices_;
  std::vector<std::size_t> indices_; ///< of devices_ in the machine's list
  std::optional<policy::MpiRank> rank_;
  int ranks_ = 1; ///< on a device
};

} // namespace gputest::session
