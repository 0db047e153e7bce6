#pragma once

#include "devices/device_list.hpp"
#include "ledger/ledger.hpp"
#include "policy/memory_request.hpp"
#include "policy/run_mode.hpp"
#include "policy/settings.hpp"
#include "session/answers.hpp"
#include "session/capable_devices.hpp"
#include "session/choice.hpp"
#include "session/cover.hpp"
#include "session/device_heap.hpp"
#include "session/outcome.hpp"
#include "session/own_contexts.hpp"
#include "session/plan.hpp"
#include "session/stray_contexts.hpp"

#include <gputest/device.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gputest::session {

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

  /// The chosen devices in the order in which CUDA numbers them; empty before enter() and without a GPU.
  ///
  /// That order is the machine's (PCI), or that of the list that restricts this process. Only in a process that used
  /// CUDA before enter() can the first of them be another one than CUDA's device 0.
  [[nodiscard]] const std::vector<Device>& devices() const { return devices_; }

  /// Whether the chosen devices are enough, and have what `requirement` says; else the skip that says what they lack.
  [[nodiscard]] Outcome check_devices(const Requirement& requirement, const std::string& who);

  /// Leases what `requirement` says on the first `gpus` devices, for the test `who`. Blocks; tells on stderr for whom
  /// it waits. Throws NestedLease, LedgerError.
  Outcome acquire(const Requirement& requirement, const std::string& who);

  /// A skip, or a failure where the settings demand that nothing of the kind is skipped.
  [[nodiscard]] Outcome skip(const std::string& reason) const { return answers_.skip(reason); }

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

  /// What is wrong with the contexts that this process has by now on devices that were not given to it; each is told of
  /// once, as a failure of the test `who`.
  [[nodiscard]] std::vector<std::string> stray_contexts(const std::string& who);

  /// What the process has lost of what its place on the ledger depends on, by closing files that are not its own;
  /// nothing if all is well.
  [[nodiscard]] std::string loss() const;

  /// Lets the program that this process is about to exec() keep devices, place and lease.
  void hand_over();

  [[nodiscard]] const policy::Settings& settings() const { return settings_; }

private:
  [[nodiscard]] Outcome enter_ledger(const Plan& plan, const AllowedDevices& allowed);
  [[nodiscard]] Outcome run_under(const Cover& cover, const AllowedDevices& allowed);
  void take(std::size_t index);
  void pin() const;
  void limit_to_smallest_of(const std::vector<std::size_t>& indices);
  [[nodiscard]] Outcome lease(const Requirement& requirement, const policy::MemoryRequest& memory,
                              const std::string& test, bool may_wait);
  void measure_overhead(Bytes managed);

  policy::Settings settings_;
  Answers answers_;
  std::shared_ptr<const devices::DeviceList> machine_;
  std::optional<OwnContexts> contexts_;
  StrayContexts strays_;
  std::optional<CapableDevices> capable_;
  std::optional<ledger::Ledger> ledger_;
  std::optional<Cover> cover_; ///< the lease under which this process runs
  std::optional<policy::RunModeFinding> run_mode_;
  std::vector<Device> devices_;
  std::vector<std::size_t> indices_;     ///< of devices_ in the machine's list
  std::vector<policy::DeviceMask> bits_; ///< of devices_ on the ledger
  std::string why_no_more_;              ///< what keeps this process from more devices than it has
  Bytes smallest_;                       ///< of the devices this process may use
  std::uint64_t least_overhead_ = 0;     ///< what a process without a leak takes by itself
  DeviceHeap heap_;
  Outcome entered_{Outcome::Kind::fail, "the process has not entered the ledger", false};
  bool numbered_as_in_cuda_ = true; ///< whether devices_ are CUDA's devices 0, 1, ...
  bool holds_ = false;
  bool admitted_ = false; ///< whether `gputest: admitted` was written, which starts the test's time limit in CTest
};

} // namespace gputest::session
