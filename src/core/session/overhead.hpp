// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/this_process.hpp"

#include <gputest/bytes.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
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
  using Clock = std::chrono::steady_clock;
  using Now = std::function<Clock::time_point()>;

  /// Begins with the expected figure: the overhead of earlier processes of this executable (`learnt`), or `usual` if
  /// that is not known (0), plus a device heap. A measurement replaces it, but not below `learnt`, because CUDA loads a
  /// module when its first kernel runs. With a heap it does not go below the expected figure, because the heap is taken
  /// when the first kernel uses it.
  void expect(Bytes usual, Bytes learnt, Bytes heap);

  /// The figure that it began with, and managed memory as it was measured last.
  [[nodiscard]] Bytes expected() const { return expected_; }
  [[nodiscard]] Bytes managed() const { return managed_; }

  /// The current figure.
  [[nodiscard]] Bytes bytes() const { return bytes_; }

  /// Whether it has to be measured again after a test.
  [[nodiscard]] bool is_due(const devices::Settled& settled, Bytes managed, Clock::time_point now) const;

  /// Records a measurement: `listed` by the driver, 0 if it lists nothing for this process; `managed` is added.
  void measured(const devices::Settled& settled, Bytes listed, Bytes managed, Clock::time_point now);

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

} // namespace gputest::session
