#pragma once

#include "board.hpp"

#include "ledger/entry.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <string>

namespace gputest::tests::storm {

/// The devices of a storm, as one process sees them, and the judge of what the ledger lets it do.
///
/// A process says what it uses after the ledger has let it, and takes that back before it tells the ledger. For one
/// that was killed the driver takes it back, some time after it has ended, and only then the devices show its memory as
/// free.
class Oracle : public ledger::DeviceWitness {
public:
  using Uses = std::array<Use, most_devices>;

  Oracle(Board& board, std::uint64_t number) : board_{&board}, number_{number} {}

  /// What this process uses from now on. Looks whether all that is used is within the rules.
  void use(const Uses& uses);

  /// Call it before each request, after the ledger has said that it waits, and once it was granted; that one judges it
  /// against all other requests.
  void asks(bool enters, policy::DeviceMask devices);
  void is_queued();
  void is_granted(policy::DeviceMask devices);

  /// Called whenever the ledger asks for a device: in the midst of a look, while it has the mutex.
  std::function<void()> on_look;

  [[nodiscard]] policy::Capacity capacity(const std::string& uuid, const std::vector<ledger::Entry>& entries,
                                          policy::DeviceMask device) const override;
  [[nodiscard]] bool is_back(const std::string& uuid, const ledger::Entry& ended) const override;

  /// Whether the memory of a process is back on a device.
  [[nodiscard]] static bool is_back(Board& board, std::uint64_t number, std::size_t device);

private:
  void check(std::size_t device) const;
  void compare(const Granted& waiter, const Granted& other) const;

  Board* board_;
  std::uint64_t number_;
  Granted request_;
  mutable std::uint64_t looked_at_ = 0;
};

} // namespace gputest::tests::storm
