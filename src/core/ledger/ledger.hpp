// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/ledger/device_table.hpp"
#include "core/ledger/own_slot.hpp"
#include "core/ledger/record.hpp"
#include "core/ledger/records.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gputest::ledger {

/// The ledger of which process holds how many bytes of which device, and this process's own record in it.
///
/// One object a process. Thread-safe. A process that is killed at any instruction leaves nothing that needs cleaning.
class Ledger {
public:
  /// Opens the ledger in `folder`, and makes it if there is none. Throws LedgerError saying what is wrong with it.
  ///
  /// In a child that this process forks the object is inert: the child has no claim of its own.
  Ledger(const std::string& folder, std::shared_ptr<const DeviceProbe> probe);
  [[nodiscard]] DeviceTable& devices() { return devices_; }

  /// What enter() asks for.
  struct EnterRequest {
    std::string who;
    policy::DeviceMask candidates = 0;
    unsigned gpus = 1;
    std::uint64_t overhead_bytes = 0;
    std::uint64_t largest_bytes = 0;
    bool whole_devices = false;
    bool estimated = false; ///< nobody has declared what it takes
    bool present = false;   ///< it uses all candidates already, and is put on the ledger with room or without
  };

  /// Enters this process: takes a slot and, when there is room, its devices. Blocks as `patience` allows.
  ///
  /// Call it before the first CUDA call; or, `present`, after it: then it does not block, and where there was no room
  /// the process has announced no lease, so that each of its leases has to be one that it may still announce. The
  /// process leaves the ledger by ending. Throws LedgerError if no slot is free.
  [[nodiscard]] Result enter(const EnterRequest& request, const Patience& patience);

  /// What lease() asks for: bytes of a subset of this process's devices.
  struct LeaseRequest {
    std::string who;
    policy::DeviceMask devices = 0;
    std::uint64_t bytes = 0;
    bool exclusive = false;   ///< the whole devices, with nobody else inside
    bool medium_lock = false; ///< the devices' medium locks
    bool estimated = false;   ///< nobody has declared the bytes
  };

  /// Leases. Blocks as `patience` allows. Throws NestedLease if this process already holds or awaits a lease.
  [[nodiscard]] Result lease(const LeaseRequest& request, const Patience& patience);

  /// Whether this process, which is inside and holds no lease, may wait for such a lease: it has announced one as
  /// large, or may announce it now. Throws LedgerError.
  [[nodiscard]] bool may_wait_for(const LeaseRequest& request);

  /// Makes the lease that this process holds one of `bytes` on each of its devices, if there is room now and no request
  /// that waits is delayed by that. True if the lease is as large from now on; false: nothing has changed.
  ///
  /// Does not wait for processes that hold or wait for a lease. If only idle ones are in the way, or memory of ended
  /// ones, blocks until they have left, for `patience.leaving_lasts` at most; nothing else of `patience` counts but
  /// `observation_lasts`. False, too, without a lease, and in a forked child. Any thread may call it. Throws
  /// LedgerError.
  [[nodiscard]] bool grow(std::uint64_t bytes, const Patience& patience = {});

  /// Gives the lease back and notifies the processes that may be granted theirs now. Does nothing if none is held. Does
  /// not throw.
  void release() noexcept;

  /// Says that this process, which is inside and holds no lease, has no work: it stays, and ends when it is notified.
  ///
  /// Whoever its context keeps waiting notifies it. From then on it has to poll leave_descriptor(), and to end as soon
  /// as has_to_leave(). Throws LedgerError.
  void set_idle();

  /// Ends set_idle(), because there is work. False if it has to leave instead: it was notified, or it would keep
  /// somebody waiting. Then it stays idle, and has to end. Blocks for a look at the devices if somebody waits for them.
  /// Throws LedgerError.
  [[nodiscard]] bool resume();

  /// Whether this process, which is idle, was notified, and so has to end. Throws LedgerError.
  [[nodiscard]] bool has_to_leave() const;

  /// For poll(): readable once has_to_leave(). Nothing else may read it. Throws LedgerError.
  [[nodiscard]] int leave_descriptor() const;

  /// Records what this process takes by itself on each of its devices from now on: its context, and what it has not
  /// freed.
  void set_overhead(std::uint64_t bytes);

  /// Throws LedgerError if something in this process has closed what its place on the ledger depends on, or has
  /// otherwise made it lose it. Does nothing in a process that has not entered. That another process could not be
  /// notified depends on who waits, and is no error before the next lease.
  void require_intact() const;

  /// The processes that have memory of these devices beyond their claims right now, this one included; `external` if
  /// programs that are not on the ledger have some. Throws LedgerError.
  [[nodiscard]] Blocked unleased_memory(policy::DeviceMask devices);
  [[nodiscard]] std::vector<Record> records();

  /// All that is in the ledger, for people.
  struct Contents {
    std::vector<std::string> uuids;            ///< of the devices: bit i of a mask is uuids[i]
    std::vector<std::uint64_t> overhead_bytes; ///< of a process on each, as last measured; 0: by nobody
    std::vector<Record> records;
    std::string caveat; ///< who keeps the mutex, so that nothing changes; empty: nobody
  };

  /// Looks, without the mutex: records may be of different moments. Throws LedgerError for damage.
  [[nodiscard]] Contents contents();

  /// What names this process to those that run under its lease, credential_of(); empty outside.
  [[nodiscard]] std::string credential() const;

  /// Whether a credential names a process that is alive and on the ledger; if so, its record.
  [[nodiscard]] std::optional<Record> holder_of(const std::string& credential);

  /// The record of the process above this one under whose lease it runs, if its environment does not say:
  /// lease_above(). Needs no mutex.
  [[nodiscard]] std::optional<Record> holder_above();

  /// Lets the program that this process will exec() keep the place on the ledger.
  void inherit_across_exec();

private:
  template <class Function>
  auto or_lose_place(Function function);
  [[nodiscard]] Result enter_without_room(const EnterRequest& request);
  void require_may_lease(const LeaseRequest& request) const;
  void require_stage(policy::Stage stage, const char* what) const;
  [[nodiscard]] bool announce(const LeaseRequest& request, const Observations& seen);

  void release_if_pending();

  os::SlotStore store_;
  DeviceTable devices_;
  Records records_;
  OwnSlot own_slot_;
  bool release_is_pending_ = false;    ///< release() is to be done when the mutex can be had
  bool overhead_is_unwritten_ = false; ///< set_overhead() has failed
  bool could_not_notify_ = false;      ///< and so gave up its slot
};

} // namespace gputest::ledger
