// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "board.hpp"

#include "core/ledger/record.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gputest::tests::storm {

/// The devices of a storm, as one process sees them, and the judge of what the ledger lets it do.
///
/// A process says what it uses after the ledger has let it, and takes that back before it tells the ledger. For one
/// that was killed the driver takes it back, some time after it has ended, and only then the devices show its memory as
/// free.
class Oracle : public ledger::DeviceProbe {
public:
  using Uses = std::array<Use, max_devices>;

  Oracle(Board& board, std::uint64_t number) : board_{&board}, number_{number} {}

  /// What this process uses from now on. Looks whether all that is used is within the rules.
  void use(const Uses& uses);

  /// Call it before each request, after the ledger has said that it waits, and once it was granted; that one judges it
  /// against all other requests. `bytes` and what follows are of a lease.
  void asks(bool enters, policy::DeviceMask devices, std::uint64_t bytes = 0, std::uint64_t overhead_bytes = 0,
            bool exclusive = false, bool medium_lock = false);
  void is_queued();
  void is_granted(policy::DeviceMask devices);

  /// Call it when a request has ended without a grant, and when a lease is given back.
  void ends();

  /// Call it when a process uses the lease that it was granted: looks whether that one delays somebody.
  void look_who_is_delayed();

  /// Call it before a lease of `held_bytes` is to grow, and when the process uses the larger one: looks whether that
  /// delays somebody who waited before.
  void grows(std::uint64_t held_bytes);
  void look_who_is_delayed_by_growth();

  /// Called whenever the ledger looks at a device, and when it uses what it saw: in the midst of a look, while it has
  /// the mutex.
  std::function<void()> on_look;

  [[nodiscard]] std::shared_ptr<const ledger::Observation> observe(const std::string& uuid) const override;

private:
  void check(std::size_t device) const;
  void compare(const Granted& waiter, const Granted& other) const;
  void look_who_is_delayed_since(std::uint64_t asked_at, std::uint64_t held_bytes);
  [[nodiscard]] bool delays(const Waiting& waiting, std::uint64_t queued_at, std::size_t device,
                            std::uint64_t held_bytes) const;

  Board* board_;
  std::uint64_t number_;
  Granted request_;
  std::uint64_t growth_asked_at_ = 0;
  std::uint64_t held_bytes_ = 0;
  std::uint64_t entries_before_ = 0;
  mutable std::uint64_t looked_at_ = 0;
};

/// Positions of the claims that wait, and are not stopped, although all claims let them go on: at once, or if idle
/// processes left.
[[nodiscard]] std::vector<std::size_t> who_could_go_on(const policy::Snapshot& snapshot);

} // namespace gputest::tests::storm
