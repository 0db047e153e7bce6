// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/meter.hpp"
#include "core/os/mutex.hpp"

#include <gputest/bytes.hpp>
#include <gputest/memory_kind.hpp>

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace gputest::session {

/// What the running test may take of each of this process's devices, in CUDA's order. Devices beyond those: nothing.
struct LeaseLimits {
  std::string test;
  std::vector<Bytes> leased;
  Bytes largest{}; ///< that a test can have of any device here; 0: not known
};

struct Allocation {
  MemoryKind kind = MemoryKind::pool;
  int device = 0;
  Bytes bytes;
};

/// What was found at the end of a lease.
struct Closing {
  std::vector<devices::DeviceUsage> left; ///< allocated under the lease and not freed, of each device
  Bytes managed; ///< still allocated by this test or an earlier one, on the device with most of it
};

/// What this process holds through memory resources, against what its running test has leased. Thread-safe.
///
/// What a test leaves allocated is not held against the next one: it is the process's own from then on.
class Account {
public:
  /// The one of this process.
  static Account& instance();

  /// From now on memory is allocated under a grant only: gputest runs the tests of this process.
  void guard();

  /// Begins a lease. In a process that is not guarded it limits all the same.
  void open(LeaseLimits grant);

  /// Ends the lease; says what it leaves. Nothing if there is none.
  Closing close() noexcept;

  /// Counts bytes as held, before they are allocated. Returns the number of the lease, which may end before they are.
  /// Throws LeaseExceeded with what is held and leased.
  unsigned reserve(const Allocation& allocation);

  /// Takes a reservation back that came to nothing.
  void cancel(const Allocation& allocation, unsigned lease) noexcept;

  /// Notes where reserved bytes are.
  void add(void* pointer, const Allocation& allocation, unsigned lease);

  /// Counts an allocation as freed, and returns it; nullopt if there is none there.
  std::optional<Allocation> remove(void* pointer) noexcept;

private:
  struct Held {
    Allocation allocation;
    unsigned lease = 0; ///< under which it was reserved
  };
  [[nodiscard]] std::unique_lock<os::Mutex> lock();
  void give_back(const Held& held) noexcept;

  os::Mutex mutex_;
  bool guarded_ = false;
  std::optional<LeaseLimits> limits_;
  unsigned lease_ = 0;           ///< counts the leases of this process
  std::map<int, Bytes> held_;    ///< of each device, under the current lease
  std::map<void*, Held> places_; ///< all allocations of this process
};

} // namespace gputest::session
