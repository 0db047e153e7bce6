// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/policy/request.hpp"
#include "core/session/answers.hpp"
#include "core/session/growth.hpp"
#include "core/session/measurement.hpp"
#include "core/session/messages.hpp"
#include "core/session/place.hpp"

#include <gputest/device.hpp>
#include <gputest/session.hpp>
#include <gputest/settings.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
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

/// One process's use of the GPUs: it chooses and pins devices, enters the ledger, leases memory, and gives it back.
///
/// Not thread-safe. A process has one object, because the ledger has one claim per process.
class DeviceSession {
public:
  /// `program` stands for the process in messages where CTest has given it no name.
  /// `now` is the clock by which a measurement grows old.
  DeviceSession(Settings settings, Entry entry, std::string program, Overhead::Now now = Overhead::Clock::now);
  ~DeviceSession();
  DeviceSession(const DeviceSession&) = delete;
  DeviceSession& operator=(const DeviceSession&) = delete;

  // As the functions of Session with these names, but for its lock and the checks of arguments.

  Outcome enter(const Plan& plan) { return place_.enter(plan, entry_); }
  [[nodiscard]] Outcome foresee(const Request& request, const std::string& who);
  void watch_unleased(const std::string& who);

  /// As Session::count_unleased(). Returns the sticky error of CUDA, if there is one, else an empty text.
  std::string count_unleased(const std::string& where);

  void while_waiting(std::function<void(const std::string&)> on_wait) { answers_.while_waiting(std::move(on_wait)); }

  /// The CTest entry. If several processes share a lease, its request is this process's part of it.
  [[nodiscard]] const Entry& entry() const { return entry_; }
  void set_entry(Entry entry);

  [[nodiscard]] const Place& place() const { return place_; }
  [[nodiscard]] const std::vector<Device>& devices() const { return place_.chosen().devices; }

  /// As Place::check().
  [[nodiscard]] Outcome check_devices(const Request& request, const std::string& who) {
    return place_.check(request, who);
  }

  /// Leases as Session::lease() does. release() gives back.
  Outcome acquire(const Request& request, const std::string& who);

  /// A skip; or a failure if the settings forbid this kind of skip.
  [[nodiscard]] Outcome skip(const std::string& reason, SkipCause cause) const { return answers_.skip(reason, cause); }

  /// From now on each lease is measured. Call it after enter(), before the first use of devices. Not for a process that
  /// becomes another program.
  void measure() { meter_ = &process_->meter(settings_.meter); }

  /// Writes to the run log that the command has ended, and the lease with it.
  void log_end_of_command(const devices::Usage& usage) const noexcept;

  /// Sets the heap of the devices that acquire() has leased for the test `who`, before its first kernel. Gives the
  /// lease back if that fails. Not for a process that becomes another program.
  Outcome prepare_heap(const Request& request, const std::string& who);

  /// The bytes of a lease of `request` on each of the first `gpus` devices.
  [[nodiscard]] std::vector<Bytes> bytes_of(const Request& request) const;

  /// What memory resources may take under such a lease. One that is estimated grows, so devices are its limit.
  [[nodiscard]] std::vector<Bytes> limits_of(const Request& request) const;

  /// The test of watch_unleased() has ended: what it took without a lease.
  [[nodiscard]] Measured end_unleased() noexcept;

  /// Judges the test `who` of a process that has not entered, because none of its tests uses a GPU: whether it used one
  /// all the same. Once.
  [[nodiscard]] Measured look_for_use(const std::string& who) noexcept;

  /// From now on several tests share the lease: what is said of it is said of its holder as a suite.
  void share();

  /// Whether the lease's holder has taken more than it leased, up to now. Each lease says so once.
  [[nodiscard]] Measured look() noexcept;

  /// What the lease's holder has allocated of all devices by now; nullopt: no lease, or not known exactly.
  [[nodiscard]] std::optional<Bytes> allocated() const;

  /// Judges what a command of this process has allocated under the lease, as a test is judged; leaks are none, because
  /// it has ended.
  [[nodiscard]] Measured judge_command(devices::Usage usage);

  /// What the lease that was given back last had come to. Once; nullopt if there was none since.
  [[nodiscard]] std::optional<Measured> take_measured() { return std::exchange(measured_, std::nullopt); }

  /// As Session::explain_out_of_memory(), under a lease of `held` (null: without one).
  [[nodiscard]] std::string explain_out_of_memory(const std::string& who, const Request* held);

  /// Synchronises, trims pools, gives back the lease. `managed` is managed memory that the process still has; a GPU's
  /// list of processes does not include it. `left` is known to be left of the devices by other means than a meter.
  /// Returns the sticky CUDA error that the test left behind, or nothing.
  std::string release(Bytes managed = {}, const std::vector<devices::DeviceUsage>& left = {}) noexcept;

  /// Synchronises the devices and trims pools, and keeps the lease. Returns the sticky CUDA error, or nothing.
  std::string synchronize() noexcept;

  /// Failures of the test `who` for contexts of this process on devices that were not given to it, each reported once.
  [[nodiscard]] std::vector<std::string> stray_contexts(const std::string& who) { return place_.stray_contexts(who); }
  /// The files of gputest that the process has lost; empty if none.
  [[nodiscard]] std::string loss() const;

  /// Lets the program that this process is about to exec() keep the devices, the slot and the lease.
  void hand_over();

  /// Says in the ledger that this process has no work until resume(): whoever its context keeps waiting notifies it,
  /// and then it has to end. Does nothing in a process that has no place of its own in the ledger, or is idle. Throws
  /// LedgerError while it holds a lease.
  void set_idle();

  /// There is work again. False if this process has to end instead, because it keeps others waiting. Throws
  /// LedgerError.
  [[nodiscard]] bool resume();

  /// Whether this process, which is not idle, may wait for the lease of such a test beside the others on its devices.
  /// True in one that has no place of its own in the ledger. Throws LedgerError.
  [[nodiscard]] bool may_wait_for(const Request& request);

  /// For poll(): readable when this process, which is idle, has to end. nullopt in one that is not idle. Throws
  /// LedgerError.
  [[nodiscard]] std::optional<int> leave_descriptor() const;

  [[nodiscard]] const Settings& settings() const { return settings_; }

private:
  [[nodiscard]] Outcome lease(const Request& request, const policy::MemoryRequest& memory, const std::string& test,
                              bool may_wait);
  [[nodiscard]] bool is_still_stuck();
  /// Whether what the process has may be the context of this executable.
  [[nodiscard]] bool has_context_alone() const { return !has_left_ && unleased_.empty(); }
  void begin_measuring(const Request& request, const std::string& test);
  void ask_beyond_the_lease();
  [[nodiscard]] Bytes total() const;
  void allow_for_context(const devices::Usage& usage);
  void judge(devices::Usage usage, const std::vector<devices::DeviceUsage>& left);
  void judge_overuse(Measured& measured);
  void begin_unleased_period();
  void end_unleased_period() noexcept;
  void judge_unleased(const devices::Usage& usage);
  void judge_leaks(Measured& measured, const std::vector<devices::DeviceUsage>& left);
  [[nodiscard]] std::string who_may_keep() const;
  void tell_growth(const Measured& measured) const;
  void conclude(Consequence consequence, const std::string& text, Measured& measured) const;
  [[nodiscard]] OwnUse own_use() const;
  void log_release(const devices::Usage& usage) const noexcept;

  Settings settings_;
  Entry entry_;
  Answers answers_;
  devices::ThisProcess* process_;
  devices::NoMeter no_meter_{"nothing was measured"};
  devices::Meter* meter_ = &no_meter_;
  Place place_;
  Overhead::Now now_;
  bool is_idle_ = false;
  bool holds_ = false;
  std::uint64_t children_before_ = 0; ///< when the lease began
  bool has_left_ = false;          ///< a test has left memory allocated: what the process has is not its context alone
  bool measures_ = false;          ///< a period of the meter's has begun
  Allowance allowance_;            ///< of the lease
  std::shared_ptr<Growth> growth_; ///< of a lease that is estimated; null: it is not, or nobody sees allocations
  std::map<std::string, std::set<std::uint64_t>> keeping_periods_; ///< in which memory could be kept, by who_may_keep()
  bool overuse_told_ = false;
  std::optional<Measured> measured_;
  std::string watched_;           ///< the test that runs without a lease of gputest's; empty: none
  bool watches_unleased_ = false; ///< a period of the meter's without a lease has begun
  Measured unleased_use_;         ///< what was found of it
  bool has_used_unasked_ = false; ///< although no test of the process says that it uses a GPU
  Bytes overhead_before_;         ///< when the lease began
  std::chrono::steady_clock::time_point leased_at_;
  std::size_t leased_gpus_ = 0;   ///< of the last lease
  std::vector<Bytes> of_others_;  ///< what external processes had of each of its devices when it began, if it is whole
  std::string leased_test_;       ///< that the last lease is for
  std::string unleased_;          ///< what took memory without a lease, and how much; empty if nothing is known
  std::optional<Bytes> stuck_at_; ///< the overhead with which a lease could not be had although everybody waited
  bool admitted_ = false;         ///< whether `gputest: admitted` was written, which the first lease does in any case
};

} // namespace gputest::session

namespace gputest::detail {

/// The session of this process, if it has one, between two cases of a worker. See session::DeviceSession for each of
/// these; without a session there is nothing to give up, and no reason to leave. Not while other threads use the
/// session.
void set_session_idle();
[[nodiscard]] bool resume_session();
[[nodiscard]] bool session_may_wait_for(const Request& request);
[[nodiscard]] std::optional<int> leave_descriptor_of_session();

} // namespace gputest::detail
