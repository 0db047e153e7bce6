// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/os/kernel_clock.hpp"
#include "core/os/mutex.hpp"
#include "core/os/process.hpp"
#include "core/policy/request.hpp"
#include "core/policy/verdict.hpp"
#include "core/session/account.hpp"
#include "core/session/measuring.hpp"
#include "core/session/outcome_messages.hpp"
#include "core/session/place.hpp"

#include <gputest/session.hpp>
#include <gputest/settings.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace gputest::session {

/// What each test of a process passes before it uses devices, and after: it asks for a lease, is measured, gives the
/// lease back and is examined. The public Session is this, and so is the use of devices by a launcher.
///
/// It owns the lease and the lines of the run log about it. Functions with the name of one of Session's do what that
/// one promises. Thread-safe where Session is. Inert in a forked process: the lease is the parent's.
class Gate {
public:
  /// Whose leases these are.
  enum class Role {
    tests,
    in_place_of_parent, ///< of a statement of a test whose parent holds what it needs: all is granted, nothing measured
    command,            ///< of the program that this process becomes or starts: nothing is measured or accounted here
  };

  /// `program` stands for the process in messages where CTest has given it no name. `now` is the clock by which a
  /// measurement grows old. Throws InvalidSetting as Session does.
  Gate(Settings settings, Entry entry, std::string program, Overhead::Now now = Overhead::Clock::now);
  ~Gate() { release(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  Outcome enter(const Plan& plan, Role role);
  [[nodiscard]] const Entry& entry() const { return entry_; }
  void set_entry(Entry entry);
  void while_waiting(std::function<void(const std::string&)> on_wait);
  [[nodiscard]] Outcome check(const Request& request, const std::string& test);
  [[nodiscard]] Outcome foresee(const Request& request, const std::string& test);
  /// Whether check() would grant it. Logs nothing, and the test does not begin to share a lease.
  [[nodiscard]] bool would_check(const Request& request, const std::string& test);
  /// The number is that of the lease; 0: none.
  struct Answer {
    Outcome outcome;
    std::uint64_t number = 0;
  };
  [[nodiscard]] Answer lease(const Request& request, const std::string& test);
  void count_unleased(const std::string& where);
  void watch_unleased(const std::string& test);
  [[nodiscard]] std::string explain_out_of_memory(const std::string& test, bool may_run_again);
  [[nodiscard]] std::optional<Bytes> allocated() const;
  [[nodiscard]] Findings examine(const std::string& test);

  /// Gives back the lease of this number, or any: synchronises, trims pools, measures, and only then releases.
  void release(std::optional<std::uint64_t> number = std::nullopt) noexcept;

  [[nodiscard]] bool holds(std::uint64_t number) const;

  /// Whether a call uses it that goes on only after this one: of another thread, such as one that waits for its lease,
  /// or of this one, where a signal handler has interrupted it.
  [[nodiscard]] bool is_in_use() const;

  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] const Place& place() const { return place_; }

  // For a command.

  /// Lets the program that this process is about to exec() keep the devices, the record and the lease.
  void hand_over();

  /// Writes to the run log that the command has ended, and the lease with it. `measured`: what it needs, if that is known.
  void log_end_of_command(const devices::Usage& usage, const std::optional<Measured>& measured) const noexcept;

  /// What CTest is told of the lease that is held, with the peak of its holder.
  [[nodiscard]] EntryMeasurements measurements(std::optional<Bytes> peak) const;

  /// As Measuring::judge_command().
  [[nodiscard]] Measured judge_command(devices::Usage usage) { return measuring_.judge_command(std::move(usage)); }

  // Between the cases of a worker, which hold no lease: as Ledger's functions with these names. A process without a
  // record is never idle, and may always go on. Not while other threads use this. They throw LedgerError.
  void set_idle();
  [[nodiscard]] bool resume();
  [[nodiscard]] bool may_wait_for(const Request& request);
  [[nodiscard]] std::optional<int> leave_descriptor() const; ///< nullopt in one that is not idle
  /// What tests that may not keep memory have left of devices in this process, if it is more than a small test has: a
  /// later one may lack it. Else empty.
  [[nodiscard]] std::string memory_left() const;

private:
  /// The lease that is held, or was held last.
  struct Held {
    std::uint64_t number = 0;
    Request request;
    std::string test;
    std::vector<Bytes> bytes; ///< of each device
    os::KernelClock::time_point since;
  };

  [[nodiscard]] Outcome acquire(Request request, const std::string& test);
  [[nodiscard]] Outcome check_devices(const Request& request, const std::string& test);
  [[nodiscard]] Outcome foresee_lease(const Request& request, const std::string& test);
  [[nodiscard]] Outcome ask_ledger(const Request& request, const std::string& test);
  [[nodiscard]] ledger::Result lease_where_it_may_wait(const ledger::Ledger::LeaseRequest& request,
                                                       const ledger::Patience& patience);
  [[nodiscard]] std::vector<Bytes> bytes_of(const Request& request) const;
  [[nodiscard]] bool is_still_stuck();
  void run_again_alone(policy::StopCause cause);
  [[nodiscard]] Request beside_unleased(Request request) const;
  std::optional<Measured> give_back(const Closing& memory, std::string& error) noexcept;
  std::string find_unleased(const std::string& where);
  [[nodiscard]] Outcome skip_after_problem(const std::string& test) const;
  [[nodiscard]] std::string loss() const;
  void add(const Measured& measured);
  void add_problems(const Measured& measured);
  void add_problem(const std::string& problem);
  void note_error(const std::string& test, const std::string& error);
  void log_release(const devices::Usage& usage, const std::optional<Measured>& measured) const noexcept;

  [[nodiscard]] bool is_forked() const { return pid_ != os::own_pid(); }
  /// Locks the mutex, unless the gate is that of the process that has forked this one, or a signal handler asks that
  /// has interrupted a call of gputest's.
  [[nodiscard]] std::unique_lock<os::Mutex> lock_if_possible() const;
  /// The same; throws Error in place of locking nothing.
  [[nodiscard]] std::unique_lock<os::Mutex> lock() const;

  const pid_t pid_ = os::own_pid();
  mutable os::Mutex mutex_; ///< of what follows
  Settings settings_;
  Entry entry_;
  OutcomeMessages messages_;
  devices::ThisProcess& process_;
  Place place_;
  Measuring measuring_;
  Overhead::Now now_;
  /// State leased: the number of the lease that a test or a suite holds; 0: none. Also read without the mutex.
  std::atomic<std::uint64_t> leased_{0};
  bool is_idle_ = false; ///< state idle: in the ledger, without work
  Role role_ = Role::tests;
  bool was_entered_ = false; ///< no longer in state outside: enter() was called, whatever came of it
  Held held_;
  std::string broken_by_;         ///< state broken: the test after which nothing is leased, and why; empty: not broken
  bool has_left_ = false;         ///< a test has left memory allocated: what the process has is not its context alone
  std::string unleased_;          ///< what took memory without a lease, and how much; empty: nothing is known
  std::optional<Bytes> stuck_at_; ///< the overhead with which a lease could not be had although everybody waited
  bool is_announced_ = false;     ///< `gputest: admitted` was written, which the first lease does in any case
  Findings findings_;             ///< since the last examine()
};

/// The gate of this process's Session; null without one.
[[nodiscard]] std::shared_ptr<Gate> gate_of_process();

/// Whether this process has, or had, a Session.
[[nodiscard]] bool process_has_had_gate();

} // namespace gputest::session
