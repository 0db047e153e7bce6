// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/ledger/record.hpp"
#include "core/policy/admission.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

namespace gputest::ledger {

/// Memory that a process on the ledger has of a device beyond its claim.
struct Excess {
  Record holder;
  std::uint64_t bytes = 0;
};

/// What stands in the way of a request.
struct Blocked {
  std::vector<Record> blockers;
  std::vector<Excess> excesses; ///< memory beyond claims that stands in its way too
  bool external = false;        ///< programs that are not on the ledger stand in its way too
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
  std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
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
