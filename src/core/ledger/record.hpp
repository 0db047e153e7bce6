// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/os/kernel_clock.hpp"
#include "core/policy/admission.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gputest::ledger {

/// One process on the ledger.
struct Record {
  std::size_t slot = 0;
  std::uint64_t identity = 0; ///< differs between two processes that had the same slot
  policy::Claim claim;
  std::int64_t pid = 0;
  std::uint64_t start_time = 0; ///< of the process, os::start_time_of(); 0: not known
  std::uint64_t pids = 0;       ///< what its pid means, os::pids_identity(); 0: not known
  std::uint32_t uid = 0;
  std::string who;                             ///< the test, or the command
  std::chrono::system_clock::time_point since; ///< when it took, or began to wait for, what `claim` says
  /// For people: its process has ended, and this one, which it has left running, keeps the record; 0: not known which.
  std::optional<std::int64_t> kept_by;
  bool alive = true; ///< false: its process has ended, and its bytes come back as soon as the device shows them free
};

/// Whether both are of one process; a slot is another process's after its owner has ended.
[[nodiscard]] inline bool is_same(const Record& a, const Record& b) {
  return a.slot == b.slot && a.identity == b.identity;
}

/// The slots of each user. All slots are counted as this process sees them: its own user's first.
constexpr std::size_t slots_of_a_user = 1024;

/// How a process is named to those that run under its lease: `<uid>:<slot of that user>:<identity>`, in
/// GPUTEST_LEASE_OF.
[[nodiscard]] inline std::string credential_of(const Record& record) {
  return std::to_string(record.uid) + ":" + std::to_string(record.slot % slots_of_a_user) + ":" +
         std::to_string(record.identity);
}

/// A driver may report up to this much in use on a device that nobody uses; no context is as small.
constexpr std::uint64_t bytes_of_an_unused_device = std::uint64_t{32} << 20U;

/// What one device showed when it was observed. Asks neither a driver nor the operating system any more, so that a
/// decision under the ledger's mutex may use it.
class Observation {
public:
  virtual ~Observation() = default;

  /// What the device could ever give, and what external processes held of it, given everybody on the ledger.
  [[nodiscard]] virtual policy::Capacity capacity(const std::vector<Record>& records,
                                                  policy::DeviceMask device) const = 0;

  /// What the process of each record had of the device beyond its claim, by the record's position; empty if it did not
  /// show. The capacity counts it as external.
  [[nodiscard]] virtual std::vector<std::uint64_t> over_lease_bytes(const std::vector<Record>& /*records*/,
                                                                    policy::DeviceMask /*device*/) const {
    return {};
  }

  /// Whether the device showed that the memory of this ended process, and of those that it had started, is back, given
  /// everybody on the ledger. True only of a process whose end was seen before the observation began: one that lived
  /// then may not have allocated yet.
  [[nodiscard]] virtual bool is_back(const Record& ended, const std::vector<Record>& records) const = 0;
};

/// What the ledger has to know of devices; device_probe.hpp has what it is made of, tests imitate it.
class DeviceProbe {
public:
  virtual ~DeviceProbe() = default;

  /// Looks at a device. May take milliseconds, and is never called under the ledger's mutex.
  [[nodiscard]] virtual std::shared_ptr<const Observation> observe(const std::string& uuid) const = 0;

  /// What the device could ever give, with all that is in use taken for external, whosever it is, where that is quicker
  /// to see than whose it is: a lease for which there is room even so can be granted. nullopt where it is not quicker.
  [[nodiscard]] virtual std::optional<policy::Capacity> least_capacity(const std::string& /*uuid*/) const {
    return std::nullopt;
  }

  /// The same as of an observation of this moment.
  [[nodiscard]] policy::Capacity capacity(const std::string& uuid, const std::vector<Record>& records,
                                          policy::DeviceMask device) const {
    return observe(uuid)->capacity(records, device);
  }
  [[nodiscard]] bool is_back(const std::string& uuid, const Record& ended, const std::vector<Record>& records) const {
    return observe(uuid)->is_back(ended, records);
  }
};

/// Memory that a process on the ledger has of a device beyond its claim.
struct Excess {
  Record holder;
  std::uint64_t bytes = 0;
};

/// What stands in the way of a request.
struct Blocked {
  std::vector<Record> blockers;
  std::vector<Excess> excesses; ///< memory beyond claims that stands in its way too
  /// Of a device, the most that programs have that are not on the ledger and stand in its way too; 0: none do.
  std::uint64_t external_bytes = 0;
  std::uint64_t own_overhead_bytes = 0;
  std::uint64_t own_excess_bytes =
      0; ///< part of the overhead: what the asking process was found to have without a claim
};

/// What came of a request.
struct Result {
  enum class Kind {
    granted,
    refused,     ///< can never be had
    would_wait,  ///< cannot be had now, and the patience was not to wait
    timed_out,   ///< could not be had in time
    stuck,       ///< contexts that have grown, or memory that was taken without a lease, leave no room for it, and
                 ///< everybody on the device waits
    unannounced, ///< larger than what the process entered with, so that waiting for it could be a deadlock
  };
  Kind kind = Kind::granted;
  policy::DeviceMask devices = 0; ///< granted
  policy::Refusal refusal;        ///< refused
  Blocked blocked; ///< would_wait, timed_out, stuck, unannounced: who stood in the way; else only own figures
};

/// How long a request may wait, and who hears of it.
struct Patience {
  bool may_wait = true;
  os::KernelClock::time_point until = os::KernelClock::time_point::max();
  std::chrono::milliseconds notice_after{1000}; ///< quiet for so long
  std::chrono::milliseconds notice_every{0};    ///< 0: once
  std::function<void(const Blocked&)> on_wait;  ///< called after notice_after, and then as notice_every says
  /// How long an observation of processes and devices counts. A process that waits behind others looks this often
  /// whether they are stopped. One that was itself stopped after an observation makes another one before it is granted
  /// anything. A look costs some microseconds for each process ahead. max(): for ever.
  std::chrono::milliseconds observation_lasts{500};
  /// How long idle processes may take to leave, where only they stand in the way: a request that may not wait, or whose
  /// limit passes, gives up no sooner after it has notified them. A process ends within some 0.1 s, and writes coverage
  /// data before that.
  std::chrono::milliseconds leaving_lasts{5000};
};

} // namespace gputest::ledger
