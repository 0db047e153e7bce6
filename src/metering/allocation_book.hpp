// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/meter.hpp"
#include "core/os/mutex.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

namespace gputest::metering {

/// All allocations of this process, as a back end sees them made and freed, and what they came to in a period.
///
/// Thread-safe. A call takes about 0.1 µs.
class AllocationBook {
public:
  struct Allocation {
    devices::AllocationKind kind = devices::AllocationKind::device;
    int device = 0;
    const char* function = ""; ///< a constant
    std::uint64_t bytes = 0;
    std::uint64_t owner = 0; ///< frees it when it ends: a context; 0: none does
  };

  /// Notes an allocation. `address` is its identity; one that is still noted there was freed unseen, and is replaced.
  void add(std::uint64_t address, const Allocation& allocation);

  /// An allocation that is about to be made: calls what ask_beyond() was given, if it would exceed a limit together
  /// with those that other threads are about to make. An allocation that the driver will refuse counts for nobody. Call
  /// it in the thread that allocates, and settle() in the same one when it was made or not, unless add() or refuse()
  /// says so.
  void ask(const Allocation& allocation);
  void settle();

  /// Whether ask() may call anything.
  [[nodiscard]] bool asks() const { return asks_; }

  /// As devices::Meter::ask_beyond().
  void ask_beyond(devices::Meter::Limits limits, devices::Meter::Ask ask);

  /// Notes that it was freed. Does nothing if there is none.
  void remove(std::uint64_t address);

  /// Notes that the device had not so much memory left.
  void refuse(int device, std::uint64_t bytes);

  /// Notes that the program has asked how much of the device is free. What it allocates afterwards may depend on that.
  void tell_free(int device, std::uint64_t bytes);

  /// Notes that an owner has ended, and has freed all that it owned.
  void remove_owner(std::uint64_t owner);

  /// Begins a period. What is allocated now is not the period's.
  void begin();

  /// What was allocated in the period up to now. The caller says how complete the book is.
  [[nodiscard]] devices::Usage so_far() { return so_far_with({}); }

private:
  static constexpr std::size_t kinds = 3;
  using Sums = std::array<std::uint64_t, kinds>;

  struct Entry {
    Allocation allocation;
    std::uint64_t period = 0;
  };

  struct OfDevice {
    Sums now{};
    Sums at_begin{};
    Sums at_peak{};
    std::uint64_t peak = 0;           ///< of the sum of `now`
    std::set<std::uint64_t> refused;  ///< `now` and what was refused, together, each time
    std::uint64_t before_periods = 0; ///< of `now`: what was allocated before the first period
    std::uint64_t kept_at_begin = 0;
    std::uint64_t asked = 0;         ///< is about to be allocated
    std::uint64_t free = 0;          ///< the most that the program has seen
    std::uint64_t reported_free = 0; ///< the same, before an allocation
  };

  struct Limits {
    devices::Meter::Limits at;
    devices::Meter::Ask ask;
  };

  [[nodiscard]] std::unique_lock<os::Mutex> lock();
  static std::uint64_t total(const Sums& sums);
  static bool will_be_refused(const Allocation& asked, const OfDevice& of_device, Bytes total);
  [[nodiscard]] devices::Usage so_far_with(const Allocation& asked);
  void take_off(const Entry& entry);
  void forget_asked();

  os::Mutex mutex_;
  std::unordered_map<std::uint64_t, Entry> entries_; ///< by address
  std::map<int, OfDevice> devices_;
  std::uint64_t period_ = 0;
  std::shared_ptr<const Limits> limits_; ///< null: nobody asks
  std::atomic<bool> asks_{false};
};

} // namespace gputest::metering
