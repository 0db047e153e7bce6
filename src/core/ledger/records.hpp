// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/ledger/device_table.hpp"
#include "core/ledger/record.hpp"
#include "core/ledger/storage/slot_store.hpp"
#include "core/ledger/stored_record.hpp"
#include "core/os/kernel_clock.hpp"
#include "core/os/process.hpp"
#include "core/policy/admission.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace gputest::ledger {

/// What some devices showed. Made without the mutex, used under it.
struct Observations {
  std::map<std::size_t, std::shared_ptr<const Observation>> devices; ///< by their index in the device table
  os::KernelClock::time_point began;                                 ///< before the first of the devices was asked
  /// Whether it was asked whose the memory is that is in use. Else all of it counts as external processes': enough for
  /// a lease that has room even so.
  bool complete = true;
};

/// The records of all processes on the ledger: which there are, which have ended, and which have to be notified. Under
/// the store's mutex.
class Records {
public:
  Records(os::SlotStore& store, DeviceTable& devices, std::shared_ptr<const DeviceProbe> probe)
      : store_{&store}, devices_{&devices}, probe_{std::move(probe)} {}

  /// Everybody, as the records say; whether they live is not asked. Without their names, which decisions do not need.
  [[nodiscard]] std::vector<Record> read() const;

  /// The same with their names, for people.
  [[nodiscard]] std::vector<Record> read_named() const;
  [[nodiscard]] std::string name_of(std::size_t slot) const;

  /// Replaces a record of this user's.
  void write(const Record& record);

  /// Whether the process that has this slot, or a child it forked, is alive.
  [[nodiscard]] bool lives(std::size_t slot) const;

  /// os::process_with() the liveness FIFO of this slot.
  [[nodiscard]] std::optional<pid_t> process_with(std::size_t slot) const;

  /// Looks at devices. Not under the mutex: it may take milliseconds.
  [[nodiscard]] Observations observe(policy::DeviceMask devices) const;

  /// The same without asking whose the memory in use is, where that is quicker.
  [[nodiscard]] Observations observe_free_memory_only(policy::DeviceMask devices) const;

  /// Of the processes in `ended`, whose ends were seen before `seen` was observed: takes those whose memory is back off
  /// the ledger and out of `all`; the others lose their places in the queue, and are marked in `all`. A process
  /// that has taken the slot of one of them meanwhile is another one, of which nothing was seen.
  ///
  /// Notifies nobody: interested processes watch the liveness FIFO, and detect the exit themselves.
  void reap(std::vector<Record>& all, const std::vector<Record>& ended, const Observations& seen);

  /// What decisions need: all claims, and the capacity of the devices of interest, all of which `seen` must have.
  [[nodiscard]] policy::Snapshot snapshot(const std::vector<Record>& all, policy::DeviceMask of_interest,
                                          const Observations& seen) const;

  /// Wakes those that have to look again: the process that changed what is claimed calls it. `granted` is the ticket of
  /// its own lease if that was granted just now; 0: it was not.
  ///
  /// If it is killed before it can, its liveness FIFO hangs up, and that is what those who had counted its claim watch.
  /// Throws CannotNotify if one of them could not be woken: then its liveness FIFO has to hang up, too.
  void notify_concerned(std::uint64_t granted = 0) const;

  /// Wakes the owners of these. Notifies all that can be notified before it throws CannotNotify for one that cannot.
  void notify(const std::vector<Record>& records) const;

  /// Wakes all who wait: whoever leaves a queue, or takes a slot, calls it, since those behind watched it, or the
  /// slot's last owner, and nobody else.
  void notify_all_queued() const;

private:
  [[nodiscard]] std::vector<Record> read_where(bool (*wanted)(policy::Stage),
                                               Record (*make)(std::size_t, const StoredRecord&)) const;
  [[nodiscard]] std::vector<Record> read_queued() const;

  os::SlotStore* store_;
  DeviceTable* devices_;
  std::shared_ptr<const DeviceProbe> probe_;
  /// Of ended processes of other users, whose records only those can clear: the memory of these is back.
  std::set<std::pair<std::size_t, std::uint64_t>> reclaimed_;
};

/// The slots of these, and the devices that they claim.
[[nodiscard]] std::vector<std::size_t> slots_of(const std::vector<Record>& records);
[[nodiscard]] policy::DeviceMask devices_of(const std::vector<Record>& records);
[[nodiscard]] bool has(const std::vector<Record>& records, const Record& one);
[[nodiscard]] std::vector<Record> in_slots(const std::vector<Record>& records, const std::vector<std::size_t>& slots);

/// Under whose lease a process with these ancestors, itself first, runs if its environment does not name one: the
/// nearest ancestor's that holds one; else that of a holder whose liveness FIFO it has inherited, which only
/// descendants have, since an ancestor may have ended in between.
///
/// A member of a shared ledger may write any pid into its own part: an ancestor is one only if it belongs to that
/// member. Pure.
[[nodiscard]] std::optional<Record> lease_above(const std::vector<os::Ancestor>& ancestors,
                                                const std::vector<Record>& holders,
                                                const std::function<bool(const Record&)>& is_inherited);

/// What a claim that asks for something finds: the decision, and who stands in the way.
struct Evaluation {
  policy::Decision decision;
  Blocked blocked;
  std::vector<Record> living;      ///< those in the way that were not seen to end
  std::vector<Record> dead;        ///< and those that have ended, and whose memory is not back
  std::vector<Record> to_leave;    ///< of the living, the idle ones that have to leave
  bool they_leave = false;         ///< whether it waits for those, and for the dead, and for nobody else
  bool external = false;           ///< memory that no claim covers stands in the way too
  policy::DeviceMask kept_out = 0; ///< entering: where external memory alone keeps it out
  bool may_pass = false;           ///< entering: another answer if what seems external memory is it certainly
  bool decided = false;            ///< what was seen of the devices was enough
  bool nobody_moves = false;       ///< everybody on one of its devices waits
  bool stuck = false;              ///< and it can never be granted

  /// Whether memory of ended processes stands in the way, and nothing else.
  [[nodiscard]] bool for_the_dead_only() const { return living.empty() && !external; }

  /// Whether nothing stands in the way that has to be looked at again and again.
  [[nodiscard]] bool for_the_living_only() const { return dead.empty() && !external && !may_pass; }
};

/// What `seen` and `all` mean for the claim at `own`, which asks for something. `all` has everybody, of whom those that
/// have ended and those that are stopped are marked. `queued`: others may have seen the claim wait. Asks nobody.
[[nodiscard]] Evaluation evaluate(const std::vector<Record>& all, std::size_t own, const policy::Snapshot& snapshot,
                                  const Observations& seen, bool queued);

/// A process that releases between two looks makes its memory seem an external process's: look again at once, but no
/// oftener than this before it is believed. Where so much changes there is soon another reason to look.
inline constexpr int max_looks_for_external_memory = 3;

/// Says in `blocked` whose the external memory of these devices is; the process at `own` is not named.
void explain_unleased_memory(Blocked& blocked, const std::vector<Record>& all, std::size_t own,
                             policy::DeviceMask devices, const Observations& seen);

} // namespace gputest::ledger
