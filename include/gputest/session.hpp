// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/device.hpp>
#include <gputest/lease.hpp>
#include <gputest/outcome.hpp>
#include <gputest/request.hpp>
#include <gputest/settings.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gputest {

/// What a process may ask for during its life, announced when it enters.
struct Plan {
  std::vector<Request> requests; ///< of all its tests, as far as known
  Capabilities capabilities;     ///< what its tests require, all together
  bool open_ended = false;       ///< some requests are not known yet: a medium one is assumed
  std::string filter_option;     ///< before a test's name: the option that runs it alone; empty: there is none
  /// The process runs one statement of a test whose parent holds what it needs (a death test's child): every lease is
  /// granted without asking.
  bool in_place_of_parent = false;
};

/// What examine() found in this process since its last call.
struct Findings {
  std::vector<std::string> problems; ///< failures of a test: a sticky CUDA error, lost files, contexts elsewhere,
                                     ///< memory beyond the lease, memory that is left
  std::string overuse;               ///< what the test took beyond its lease, as `5 GiB of 256 MiB`; empty: not seen
  /// The most of one device that the test had allocated at one time; of several leases, the largest. nullopt: not
  /// known.
  std::optional<Bytes> peak;
  std::string evidence;      ///< `exact`, `sampled` (the peak is a lower bound) or `unknown`; empty: there was no lease
  std::optional<Bytes> left; ///< of all devices, still allocated when the lease ended; nullopt: not known
};

/// One process's use of the devices, from choosing them to giving them back. Start here in a program that has no
/// adapter for its test framework.
///
/// At most one object exists in a process; it lives until the process needs no device any more. Thread-safe; while a
/// call blocks, calls of other threads wait, but for those that give a lease back: there is none then. A thread may
/// call exit() meanwhile, and the end of the process gives everything back. A forked process must not use the object of
/// its parent: what asks or sets something throws Error, and the rest does nothing. It may make its own. No other
/// interface of gputest reads a setting from the environment in a process that has one; enter() and report_end() read
/// GPUTEST_ENTRY, and remove it.
class Session {
public:
  /// Throws InvalidSetting for impossible devices or a folder that is not an absolute path, and Error if this process
  /// has another Session.
  Session(Settings settings, Entry entry);

  /// A Session with the settings of the environment. Throws as the constructor and settings_from_environment() do.
  [[nodiscard]] static Session from_environment();

  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Chooses devices, makes them visible in CUDA_VISIBLE_DEVICES, names its own record in GPUTEST_LEASE_OF (for
  /// processes that this one starts), and enters the ledger. Call it once, before the first CUDA call and before other
  /// threads run, since it changes the environment.
  ///
  /// Blocks until a device has room for one more process, for at most Entry::wait_limit. If it gets no devices, returns
  /// the reason, as does every later lease(). Throws LedgerError, InvalidSetting, and Error when called a second time.
  [[nodiscard]] Outcome enter(const Plan& plan);

  /// The chosen devices in the order in which CUDA numbers them; empty before enter() and without a GPU. Not while
  /// another thread is in enter().
  [[nodiscard]] const std::vector<Device>& devices() const;

  /// The CTest entry. If several ranks share a lease, its request is this process's part of it after enter().
  [[nodiscard]] const Entry& entry() const;

  /// Sets the CTest entry of the following leases, in a process that runs the tests of one entry after those of
  /// another. Throws InvalidSetting as the constructor does. Not while a lease is held.
  void set_entry(Entry entry);

  /// Calls `on_wait` with what is waited for while enter() or lease() waits, after 0.1 s and then every 0.1 s, in the
  /// thread that waits. If it throws, the request is withdrawn, and that call throws the same. It must not call this
  /// object. Not while another thread is in one of those.
  void while_waiting(std::function<void(const std::string&)> on_wait);

  /// Granted if the devices meet `request`, else the skip that says what they lack. Leases nothing. If several tests
  /// share a lease, also returns the skip after a problem that outlasts its test (see examine()). Throws LedgerError,
  /// and InvalidSetting as lease() does. `who` is the test's name in messages.
  [[nodiscard]] Outcome check(const Request& request, const std::string& who);

  /// The skip or failure that lease() would return whatever other processes do; granted if none is certain. Requests
  /// nothing, and blocks only while another thread is in lease(). Throws LedgerError, and InvalidSetting as lease()
  /// does.
  [[nodiscard]] Outcome foresee(const Request& request, const std::string& who);

  /// Leases what `request` asks for on the first `request.gpus` devices.
  ///
  /// Blocks until the memory is free, for at most Entry::wait_limit; says on stderr what it waits for. Sets the device
  /// heap that is asked for. Fails before enter(), and for more than the Plan announced if that has no room beside the
  /// contexts of all processes. A large request under LargePolicy::exclude never blocks. Throws NestedLease if this
  /// process holds a lease, LedgerError, InvalidSetting for a number of GPUs that is not 1 to 16, and for a
  /// compute capability such as sm(8).
  [[nodiscard]] Lease lease(const Request& request, const std::string& who);

  /// Counts memory that this process has taken without a lease as its own, and says on stderr how much `where` took, if
  /// it is more than a small test may. Call it before lease() when code has run that may take memory, such as
  /// `Graph::SetUpTestSuite()`. If it has left CUDA unusable, the next examine() says so, and nothing is leased any
  /// more. Does nothing while a lease is held. Takes some 10 µs, and 0.5 ms if memory was taken.
  void count_unleased(const std::string& where);

  /// Begins the test `who`, which takes its leases itself. Until the next examine(), memory that it takes without a
  /// lease is a problem.
  void watch_unleased(const std::string& who);

  /// For a test that ran out of memory: says on stderr, and returns, its lease, which processes have memory of this
  /// process's devices beyond what they have leased, as far as this can be seen, and what to do. Returns nothing while
  /// another call is in progress. Throws LedgerError.
  ///
  /// `may_run_again`: the process ends here, and its entry runs once more, alone, if it is proven that the test kept to
  /// its lease and that others had more than their estimated ones. Not if a test is known to have failed in this
  /// process before, since a further run must not hide that: where no test framework's part of gputest tells, pass
  /// false then.
  [[nodiscard]] std::string explain_out_of_memory(const std::string& who, bool may_run_again = false);

  /// What the lease's test has allocated of all its devices and not freed by now; nullopt: nothing is held, or it is
  /// not known exactly. A language that frees unused objects late can free them then, before release() calls them a
  /// leak.
  [[nodiscard]] std::optional<Bytes> allocated() const;

  /// Gives back the lease that is held, if any; the Lease object then holds nothing.
  void release() noexcept;

  /// Synchronises the devices, and returns the problems that `who` leaves behind. Call it at the end of each test,
  /// after its lease was given back. If several tests share a lease, call it while the lease is held. Before enter() a
  /// context is a problem: no test was to use a device.
  ///
  /// After a problem that outlasts its test every further lease() is a skip that names that test.
  [[nodiscard]] Findings examine(const std::string& who);

private:
  std::shared_ptr<session::Gate> gate_;
};

/// One process in the ledger.
struct Claimant {
  enum class Stage {
    entering, ///< waits for a device that has room for one more process
    inside,   ///< its context is counted; it holds no lease
    waiting,  ///< waits for the memory of a test
    holding,  ///< holds the memory of a test
    idle,     ///< inside without work; it ends as soon as it keeps another process waiting
  };
  std::string who; ///< the test, or the command
  std::int64_t pid = 0;
  Stage stage = Stage::inside;
  std::vector<std::string> devices; ///< UUIDs: those of the lease that it holds or waits for, else all of its devices
  Bytes lease;                      ///< held or waited for, per device; entering: the largest that it will ask for
  bool whole_devices = false;       ///< the lease is of whole devices
  Bytes overhead;                   ///< what the process takes by itself on each of its devices
  std::chrono::system_clock::time_point since; ///< when it took, or began to wait for, the lease
  bool ended = false; ///< the process has exited, and the device has not shown its memory free yet
};

/// All processes in the ledger that the settings name; none if there is no ledger. Does not wait, and creates nothing.
/// Throws LedgerError, InvalidSetting.
[[nodiscard]] std::vector<Claimant> status(const Settings& settings);

} // namespace gputest
