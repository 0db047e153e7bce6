// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/device_list.hpp"
#include "core/ledger/ledger.hpp"
#include "core/policy/capabilities.hpp"
#include "core/session/allowed_devices.hpp"
#include "core/session/outcome_messages.hpp"
#include "core/session/overhead.hpp"
#include "core/session/parent_lease.hpp"

#include <gputest/device.hpp>
#include <gputest/session.hpp>
#include <gputest/settings.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gputest::session {

/// The devices that a process has, in the order in which CUDA numbers them.
///
/// That order is the machine's (PCI), or that of the list that restricts this process. Only in a process that used CUDA
/// before it chose can the first of them be another one than CUDA's device 0.
struct ChosenDevices {
  std::vector<Device> devices;
  std::vector<std::size_t> indices;     ///< in the machine's list
  std::vector<policy::DeviceMask> bits; ///< in the ledger
  Bytes smallest;                       ///< of all devices that the process may use
  bool numbered_as_in_cuda = true;      ///< they are CUDA's devices 0, 1, ...
  std::string why_no_more;              ///< what keeps the process from more devices

  void add_why_no_more(const std::string& why) {
    why_no_more += (why_no_more.empty() || why.empty() ? "" : "; ") + why;
  }
};

/// The place of one process: the devices that it has chosen and pinned, and its record in the ledger.
///
/// A process has its own record, or runs under a parent lease. It leaves the ledger by exiting. Not thread-safe.
class Place {
public:
  /// All of these must live longer.
  Place(const Settings& settings, OutcomeMessages& messages, devices::ThisProcess& process)
      : settings_{settings}, messages_{messages}, process_{process}, heap_{process} {}

  /// As Session::enter(). Makes the entry's request one of this process on this machine.
  ///
  /// If none of its tests can run, whatever others hold, the process has devices afterwards, and enters the ledger only
  /// by enter_if_deferred().
  Outcome enter(const Plan& plan, Entry& entry);

  /// Enters the ledger, if that was deferred. Blocks as enter() does, if it may wait.
  [[nodiscard]] Outcome enter_if_deferred(bool may_wait);

  [[nodiscard]] bool has_devices() const { return entered_.kind == Outcome::Kind::granted; }

  /// Whether this process used devices before it could choose some and wait for room there.
  [[nodiscard]] bool began_early() const { return contexts_ && contexts_->begun_before(); }

  /// Whether this process has a record in the ledger.
  [[nodiscard]] bool has_record() const { return has_devices() && !parent_lease_ && !deferred_; }

  /// The lease under which this process runs; nullopt: none.
  [[nodiscard]] const std::optional<ParentLease>& parent_lease() const { return parent_lease_; }

  /// What it has; empty before enter() and without a GPU.
  [[nodiscard]] const ChosenDevices& chosen() const { return chosen_; }

  /// The machine's devices; null before enter().
  [[nodiscard]] const std::shared_ptr<const devices::DeviceList>& machine() const { return machine_; }

  /// Only after a granted enter().
  [[nodiscard]] ledger::Ledger& ledger() { return *ledger_; }
  [[nodiscard]] const ledger::Ledger& ledger() const { return *ledger_; }

  /// What this process takes by itself.
  [[nodiscard]] const Overhead& overhead() const { return overhead_; }

  /// The first `gpus` of its devices, and all.
  [[nodiscard]] policy::DeviceMask mask_of(std::size_t gpus) const;
  [[nodiscard]] policy::DeviceMask mask() const { return mask_of(chosen_.bits.size()); }

  /// The most that a test of this process can have of any device that the process could choose, in whole MiB; 0: not
  /// known.
  [[nodiscard]] Bytes largest_for_a_test() const;

  /// The memory of the largest device that the process could choose, whatever GPUTEST_DEVICE_MEMORY leaves tests of it.
  [[nodiscard]] Bytes largest_total() const;

  /// What a process can have of that one of its devices which has the least.
  [[nodiscard]] Bytes smallest_usable() const;

  /// Makes the request of another entry one of this process.
  void fit(Entry& entry) const;

  /// Whether its devices are enough, and have what `request` says; else the skip that says what they lack.
  [[nodiscard]] Outcome check(const Request& request, const std::string& test);

  /// Sets the heap of the devices for the test `who`, before its first kernel. Returns why it cannot get the one that
  /// it asks for, or nothing.
  [[nodiscard]] std::string prepare_heap(const Request& request, const std::string& who);

  /// Records in the ledger what this process has of its devices: its context, and what its tests have not freed.
  /// `is_context`: it is the figure of a context alone, for later processes of this executable.
  void measure_overhead(const devices::DeviceStateAfterSync& after_sync, Bytes managed, Overhead::Clock::time_point now,
                        bool is_context);

  /// Failures of the test `who` for contexts of this process on devices that were not given to it, each reported once.
  [[nodiscard]] std::vector<std::string> stray_contexts(const std::string& who);

private:
  /// The devices among which the ledger chooses, and how many it needs. All as positions in the machine's list.
  struct Choice {
    std::vector<std::size_t> candidates; ///< in the order in which CUDA will number those that it gets
    std::size_t gpus = 0;
    bool present = false; ///< the process uses them already: it gets all of them, with room or without
  };

  Outcome no_gpu(const std::string& why);
  /// Those of `indices` that can be used at all. Appends to `unusable` why the others cannot.
  [[nodiscard]] std::vector<std::size_t> usable(const std::vector<std::size_t>& indices, std::string& unusable) const;
  /// Those of `indices` that have what is required. If peer access is, they can reach one another's memory.
  [[nodiscard]] std::vector<std::size_t> capable(const Capabilities& required, const std::vector<std::size_t>& indices);
  [[nodiscard]] std::string why_not_capable(const Capabilities& required, const std::vector<std::size_t>& indices);
  [[nodiscard]] policy::Candidate candidate(const Capabilities& required, std::size_t index);
  [[nodiscard]] Choice choose(const Plan& plan, const AllowedDevices& allowed, const Capabilities& required);
  [[nodiscard]] Choice already_chosen(const std::vector<std::size_t>& seen, std::size_t gpus);
  [[nodiscard]] std::vector<std::size_t> largest_of(const Choice& choice) const;
  [[nodiscard]] Bytes usable_of_each(const std::vector<std::size_t>& indices, std::size_t gpus) const;
  [[nodiscard]] Outcome enter_ledger(const Plan& plan, const AllowedDevices& allowed, Entry& entry);
  void expect_overhead(const Choice& choice);
  [[nodiscard]] ledger::Ledger::EnterRequest request_for(const Choice& choice, const Plan& plan, LargePolicy large);
  [[nodiscard]] bool none_can_run(const Plan& plan, const Choice& choice);
  [[nodiscard]] Outcome take_record(const ledger::Ledger::EnterRequest& request,
                                    const std::vector<std::size_t>& candidates, bool may_wait);
  [[nodiscard]] Outcome run_under(const ParentLease& parent_lease, const AllowedDevices& allowed, Entry& entry);
  void log_enter(double waited) const;
  void pin(const std::vector<std::size_t>& indices, policy::DeviceMask mask = ~policy::DeviceMask{0});
  void limit_to_smallest_of(const std::vector<std::size_t>& indices);

  const Settings& settings_;
  OutcomeMessages& messages_;
  devices::ThisProcess& process_;
  std::shared_ptr<const devices::DeviceList> machine_;
  std::optional<OwnContexts> contexts_;
  std::optional<ledger::Ledger> ledger_;
  std::optional<ParentLease> parent_lease_;
  Outcome entered_{Outcome::Kind::fail, "the process has not entered the ledger", false};
  std::optional<ledger::Ledger::EnterRequest> deferred_; ///< state deferred: if a test can run, it enters by this
  std::vector<std::string> counted_;                     ///< as AllowedDevices::counted
  std::vector<std::size_t> candidates_;                  ///< of which it chooses, in the machine's list
  ChosenDevices chosen_;
  Overhead overhead_;
  DeviceHeap heap_;
};

} // namespace gputest::session
