// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/device_list.hpp"
#include "core/os/kernel_clock.hpp"

#include <gputest/bytes.hpp>
#include <gputest/device.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gputest::session {

/// What this process takes of each of its devices by itself, as the ledger counts it, and when to measure it again.
///
/// A measurement asks the driver for its list of processes, which takes 0.3 ms to 0.5 ms (H200); what is read at each
/// test's end anyway costs microseconds. So a test's end measures only if
/// - this process has a context on more or fewer devices than at the last measurement,
/// - a device has less free memory than right after it, by 2 MiB or more: whatever a test has left, in one piece or
///   little by little, takes that much, since drivers hand memory out in pieces of 2 MiB,
/// - other managed memory is left than then, which no list counts, or
/// - the last measurement is a second old: what another process frees in the same moment can hide what a test leaves
///   from the rule before this one.
///
/// Until then no process is given memory that is not free: each decision reads the device itself, and counts what a
/// process has beyond its claim as external.
class Overhead {
public:
  using Clock = os::KernelClock;
  using Now = std::function<Clock::time_point()>;

  /// Begins with the expected figure: the overhead of earlier processes of this executable (`learnt`), or `usual` if
  /// that is not known (0), plus a device heap. A measurement replaces it, but not below `learnt`, because CUDA loads a
  /// module when its first kernel runs. With a heap it does not go below the expected figure, because the heap is taken
  /// when the first kernel uses it.
  void expect(Bytes usual, Bytes learnt, Bytes heap);

  /// The figure that it began with, and managed memory as it was measured last.
  [[nodiscard]] Bytes expected() const { return expected_; }
  [[nodiscard]] Bytes managed() const { return managed_; }
  [[nodiscard]] Bytes bytes() const { return bytes_; }

  /// Whether it has to be measured again after a test.
  [[nodiscard]] bool is_due(const devices::DeviceStateAfterSync& after_sync, Bytes managed,
                            Clock::time_point now) const;

  /// Records a measurement: `listed` by the driver, 0 if it lists nothing for this process; `managed` is added.
  void measured(const devices::DeviceStateAfterSync& after_sync, Bytes listed, Bytes managed, Clock::time_point now);

  /// The figure to store for later processes of this executable; 0 if there is none. With a device heap or managed
  /// memory, or above what any context takes (2 GiB), a test has probably caused it.
  [[nodiscard]] Bytes to_learn() const { return to_learn_; }

private:
  Bytes bytes_;
  Bytes expected_; ///< including the heap
  Bytes learnt_;
  bool heap_ = false;
  Bytes to_learn_;
  std::vector<std::uint64_t> free_bytes_; ///< when it was last measured
  Bytes managed_;
  Clock::time_point measured_at_;
};

/// The devices on which this process has a context, according to their lists of processes. Each call reads the devices
/// again: 0.1 to 0.5 ms each (H200).
class OwnContexts {
public:
  /// Construct it before devices are chosen. A process that is listed under this process's pid then, although this
  /// process has not begun to use devices, is another one in another pid namespace.
  OwnContexts(std::shared_ptr<const devices::DeviceList> machine, const devices::ThisProcess& process);

  /// Whether this process had begun to use devices when this was constructed, so that it is too late to choose some.
  [[nodiscard]] bool begun_before() const { return begun_before_; }

  /// What it has on a device, its context included; nullopt if it has none there or if this is not known, 0 if it has
  /// one of unknown size.
  [[nodiscard]] std::optional<Bytes> on(std::size_t index) const;

  /// The same, 0 if there is none.
  [[nodiscard]] Bytes used(std::size_t index) const { return on(index).value_or(Bytes{}); }

  /// The machine's devices on which it has a context.
  [[nodiscard]] std::vector<std::size_t> all() const;

  /// Failures of the test `who` for contexts on other devices than those `given` to this process, each found once; they
  /// say what to do.
  [[nodiscard]] std::vector<std::string> strays(const std::vector<std::size_t>& given, const std::string& who);

private:
  std::shared_ptr<const devices::DeviceList> machine_;
  const devices::ThisProcess* process_;
  bool begun_before_ = false;
  bool sees_only_given_ = false; ///< no other device can have a context of this process any more
  std::set<std::size_t> listed_for_others_;
  std::set<std::size_t> found_strays_;
};

/// The heap of this process for `malloc` in kernels: one size for all its tests, because the limit cannot change after
/// such a kernel has run.
class DeviceHeap {
public:
  explicit DeviceHeap(devices::ThisProcess& process) : process_{&process} {}

  /// The largest that a test of this process will ask for, as far as known; 0: none will.
  void expect(Bytes size) { size_ = size; }
  [[nodiscard]] Bytes cost() const;

  /// Sets the largest heap on those of the first `gpus` devices where it is not set yet, before a test's first kernel,
  /// whether that test asks for one (`heap`) or not: its kernels could prevent setting that of others. Creates their
  /// contexts.
  ///
  /// Returns why the test `who` cannot get the size that it asks for, or nothing.
  [[nodiscard]] std::string prepare(Bytes heap, const std::vector<Device>& devices, int gpus, const std::string& who);

private:
  devices::ThisProcess* process_;
  Bytes size_;
  int devices_set_ = 0;
};

} // namespace gputest::session
