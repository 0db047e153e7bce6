#pragma once

#include "devices/device_list.hpp"
#include "ledger/ledger.hpp"
#include "policy/memory_request.hpp"
#include "policy/run_mode.hpp"
#include "policy/settings.hpp"
#include "session/capable_devices.hpp"
#include "session/device_heap.hpp"

#include <gputest/device.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gputest::session {

/// What came of asking for devices or memory.
struct Outcome {
  enum class Kind { granted, skip, fail };
  Kind kind = Kind::granted;
  std::string reason;     ///< of a skip or a failure: what was asked, what was seen, what to do
  bool not_freed = false; ///< fail: the memory did not become free, in time or at all
};

/// What a process may ask for during its life, told when it enters.
struct Plan {
  std::vector<Requirement> requirements; ///< of all its tests, as far as known
  Capabilities capabilities;             ///< what its tests require, all together
  bool open_ended = false; ///< there may be tests whose requirement is not known yet: then a medium one is counted on
};

/// One process's stay on the GPUs: devices chosen and pinned, ledger entered, memory leased, settled and given back.
///
/// Not thread-safe. One object a process, since the ledger knows one claim of a process.
class Session {
public:
  /// `program` stands for the process in messages where CTest has given it no name.
  Session(policy::Settings settings, std::string program);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Chooses devices, makes them visible in CUDA_VISIBLE_DEVICES, enters the ledger. Blocks until there is room.
  ///
  /// What keeps it from devices is returned, and again by every acquire(). Throws LedgerError, InvalidSetting.
  Outcome enter(const Plan& plan);

  /// What came of enter(); a failure before it.
  [[nodiscard]] const Outcome& entered() const { return entered_; }

  /// The chosen devices in CUDA's order; empty before enter() and without a GPU.
  [[nodiscard]] const std::vector<Device>& devices() const { return devices_; }

  /// Whether the chosen devices are enough, and have what `requirement` says; else the skip that says what they lack.
  [[nodiscard]] Outcome check_devices(const Requirement& requirement, const std::string& who);

  /// Leases what `requirement` says on the first `gpus` devices, for the test `who`. Blocks; tells on stderr for whom
  /// it waits. Throws NestedLease, LedgerError.
  Outcome acquire(const Requirement& requirement, const std::string& who);

  /// A skip, or a failure where the settings demand that nothing of the kind is skipped.
  [[nodiscard]] Outcome skip(const std::string& reason, bool for_want_of_gpu = false) const;

  /// Sets the heap of the devices that acquire() has leased for the test `who`, before its first kernel. Gives the
  /// lease back where that cannot be. Not for a process that becomes another program.
  Outcome prepare_heap(const Requirement& requirement, const std::string& who);

  /// What a lease of `requirement` is on each of the first `gpus` devices.
  [[nodiscard]] std::vector<Bytes> bytes_of(const Requirement& requirement) const;

  /// Whether a lease is held.
  [[nodiscard]] bool holds() const { return holds_; }

  /// Synchronises, trims pools, gives back the lease. `managed` is managed memory that the process still has, which a
  /// GPU's list of who uses how much leaves out. Returns the sticky CUDA error that the test left behind, or nothing.
  std::string release(Bytes managed = {}) noexcept;

  /// What the process has lost of what its place on the ledger depends on, by closing files that are not its own;
  /// nothing if all is well.
  [[nodiscard]] std::string loss() const;

  /// Lets the program that this process is about to exec() keep devices, place and lease.
  void hand_over();

  [[nodiscard]] const policy::Settings& settings() const { return settings_; }

private:
  [[nodiscard]] Outcome enter_ledger(const Plan& plan, const std::vector<std::size_t>& allowed);
  [[nodiscard]] Outcome run_under_lease_of(const ledger::Entry& holder, const std::vector<std::size_t>& allowed);
  [[nodiscard]] ledger::Patience patience(const std::string& who, const std::string& what, bool* told) const;
  [[nodiscard]] Outcome under_lease(const Requirement& requirement, const policy::MemoryRequest& memory) const;
  [[nodiscard]] Outcome outcome_of(const ledger::Result& result, const std::string& what,
                                   const std::string& test) const;
  [[nodiscard]] std::string full_name(const std::string& who) const;
  [[nodiscard]] std::string command_for(const std::string& test) const;
  [[nodiscard]] Outcome never_fits_skip(const std::string& who, const policy::Refusal& refusal) const;
  void measure_overhead(Bytes managed);

  policy::Settings settings_;
  std::string program_;
  std::shared_ptr<const devices::DeviceList> machine_;
  std::optional<CapableDevices> capable_;
  std::optional<ledger::Ledger> ledger_;
  std::optional<ledger::Entry> cover_; ///< the process under whose lease this one runs
  std::optional<policy::RunModeFinding> run_mode_;
  std::vector<Device> devices_;
  std::vector<std::size_t> indices_;     ///< of devices_ in the machine's list
  std::vector<policy::DeviceMask> bits_; ///< of devices_ on the ledger
  std::string unusable_;                 ///< what is the matter with the devices that cannot be used
  Bytes smallest_;                       ///< of the devices this process may use
  std::uint64_t least_overhead_ = 0;     ///< what a process without a leak takes by itself
  DeviceHeap heap_;
  Outcome entered_{Outcome::Kind::fail, "the process has not entered the ledger", false};
  bool holds_ = false;
  bool admitted_ = false; ///< whether `gputest: admitted` was written, which starts the test's time limit in CTest
};

} // namespace gputest::session
