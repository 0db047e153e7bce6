// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/meter.hpp"
#include "core/os/mutex.hpp"
#include "core/session/measurement.hpp"
#include "core/session/place.hpp"

#include <gputest/bytes.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>

namespace gputest::session {

/// An estimated lease, which grows before its test takes more than it has.
///
/// If there is no room the process ends before the allocation, and its watcher runs the entry again. If the ledger
/// cannot be used, the test fails. Without a watcher it goes on, and says so. Thread-safe, since any thread may
/// allocate. Takes no lock of the gate's, which may wait for a device.
class Growth : public std::enable_shared_from_this<Growth> {
public:
  /// `may_end`: whether a watcher would run the entry again with a larger lease. What is given by reference has to live
  /// until end().
  Growth(Place& place, devices::Meter& meter, devices::ThisProcess& process, Allowance allowance, bool may_end);

  /// Has the meter ask before each allocation beyond the lease.
  void limit();

  /// What is leased of each device by now.
  [[nodiscard]] Bytes leased();

  /// The lease is given back: it grows no more.
  void end();

private:
  void ask(const devices::Usage& usage);
  [[nodiscard]] Bytes needed_for(const devices::Usage& usage) const;
  void stop_before(Bytes needed, Bytes possible);
  void fail_before_allocation(const std::string& why) const;

  os::Mutex mutex_;
  ledger::Ledger* ledger_; ///< null after end()
  devices::Meter& meter_;
  devices::ThisProcess& process_;
  const Allowance allowance_;
  const Bytes largest_; ///< that a test can have of any device here
  const Bytes total_;   ///< the most that a device here has
  const bool may_end_;
  Bytes leased_;
  const int pid_; ///< a forked process has its parent's lease in its memory, and no right to it
};

} // namespace gputest::session
