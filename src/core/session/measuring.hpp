// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/meter.hpp"
#include "core/session/growth.hpp"
#include "core/session/measurement.hpp"
#include "core/session/messages.hpp"
#include "core/session/outcome_messages.hpp"
#include "core/session/place.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gputest::session {

/// What was found out about the memory that a test, or a suite with one lease, allocated.
struct Measured {
  devices::Usage usage;
  Bytes peak;
  std::optional<Bytes> left;
  std::string overuse;               ///< `1 GiB of 256 MiB`
  std::vector<std::string> problems; ///< that fail the test
};

/// Measures what the tests of a process allocate, and judges it: a period of the meter for each lease, and one for each
/// time without a lease of a test that is watched.
class Measuring {
public:
  /// All of these must live longer.
  Measuring(const Settings& settings, const Entry& entry, const OutcomeMessages& messages, Place& place,
            devices::ThisProcess& process)
      : settings_{settings}, entry_{entry}, messages_{messages}, place_{place}, process_{process} {}

  /// From now on each period is measured. Call it after Place::enter(), before the first use of devices.
  void start() { meter_ = &process_.meter(settings_.meter); }

  /// The lease of `test` begins, and with it a period of the meter.
  void begin_leased_period(const Request& request, const std::string& test);

  /// From now on several tests share the lease: what is said of it is said of its holder as a suite.
  void share();

  /// Whether the lease's holder has taken more than it leased, up to now. Each lease says so once.
  [[nodiscard]] Measured check_overuse() noexcept;

  /// What the lease's holder has allocated of all devices by now; nullopt: no lease, or not known exactly.
  [[nodiscard]] std::optional<Bytes> allocated() const;

  /// What holders of leases that may keep nothing have left of all devices: where that is known exactly, what is not
  /// freed by now.
  [[nodiscard]] Bytes still_left() const;

  /// For the message about a lease's holder that ran out of memory: what it has allocated, and asked for in vain.
  [[nodiscard]] OwnUse own_use() const;

  /// What other processes hold beyond their estimated leases, if that is why the holder of this lease of `leased` ran
  /// out of memory within it. If its own lease is declared, only if those bytes cover what it lacked. nullopt if that
  /// is not proven: with several devices it is not known which was full.
  [[nodiscard]] std::optional<Bytes> taken_by_others(const ledger::Blocked& beyond, Bytes leased) const;

  /// What is leased of each device by now, if the lease grows.
  [[nodiscard]] std::optional<Bytes> grown_to() const {
    return growth_ ? std::optional{growth_->leased()} : std::nullopt;
  }

  /// The period of the lease ends: what was allocated in it.
  [[nodiscard]] devices::Usage end_leased_period() noexcept { return measures_ ? meter_->end() : devices::Usage{}; }

  /// Judges what end_leased_period() has returned, after the overhead was measured. `left` is known to be left of the
  /// devices by other means than a meter. nullopt: nothing was measured.
  [[nodiscard]] std::optional<Measured> judge(devices::Usage usage,
                                              const std::vector<devices::DeviceUsage>& left) noexcept;

  /// Judges what a command has allocated under the lease. It leaks nothing, because it has ended.
  [[nodiscard]] Measured judge_command(devices::Usage usage);

  /// What the holder of the last lease may take.
  [[nodiscard]] const Allowance& allowance() const { return allowance_; }

  /// As Session::watch_unleased().
  void watch(const std::string& who);

  /// No lease is held: a period for the watched test, if there is one.
  void begin_unleased_period();

  /// Judges what it has taken in that period by now. Whether there is one.
  bool check_unleased_use();

  /// The watched test has ended: what it took without a lease.
  [[nodiscard]] Measured end_watch() noexcept;

  /// Judges the test `who` of a process that has not entered, because none of its tests uses a GPU: whether it used one
  /// all the same. Once.
  [[nodiscard]] Measured look_for_use(const std::string& who) noexcept;

private:
  void ask_beyond_the_lease();
  void allow_for_context(const devices::Usage& usage);
  void judge_overuse(Measured& measured);
  void judge_leaks(Measured& measured, const std::vector<devices::DeviceUsage>& left);
  void judge_unleased(const devices::Usage& usage);
  void end_unleased_period() noexcept;
  [[nodiscard]] std::string who_may_keep() const;
  void tell_growth(const Measured& measured) const;
  void conclude(Consequence consequence, const std::string& text, Measured& measured) const;

  const Settings& settings_;
  const Entry& entry_;
  const OutcomeMessages& messages_;
  Place& place_;
  devices::ThisProcess& process_;
  devices::NoMeter no_meter_{"nothing was measured"};
  devices::Meter* meter_ = &no_meter_;

  // Of the lease.
  bool measures_ = false; ///< its period has begun
  Allowance allowance_;
  std::shared_ptr<Growth> growth_; ///< null: it does not grow
  bool overuse_reported_ = false;
  Bytes overhead_before_;                                          ///< when it began
  std::uint64_t children_before_ = 0;                              ///< when it began
  std::map<std::string, std::set<std::uint64_t>> keeping_periods_; ///< in which memory could be kept, by who_may_keep()

  // Of the leases before, of those that may keep nothing.
  std::set<std::uint64_t> leaving_periods_; ///< where memory that is left is known exactly
  Bytes left_;                              ///< elsewhere

  // Without a lease.
  std::string watched_;           ///< the test; empty: none
  bool watches_unleased_ = false; ///< state unleased: the period of the watched test has begun
  Measured unleased_use_;         ///< what was found of it
  bool has_used_unasked_ = false; ///< although no test of the process says that it uses a GPU
};

} // namespace gputest::session
