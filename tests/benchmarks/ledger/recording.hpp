// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gputest::benchmarks {

/// Times that several processes measure. Lies in Shared memory.
class Samples {
public:
  /// Adds one; those that there is no space for are left out.
  void add(std::int64_t nanoseconds) {
    const std::size_t position = count_++;
    if (position < most) {
      nanoseconds_[position] = nanoseconds;
    }
  }

  /// All of them. Not while processes add to it.
  [[nodiscard]] std::vector<double> all() const;

private:
  static constexpr std::size_t most = std::size_t{1} << 18U;
  std::atomic<std::size_t> count_{0};
  std::array<std::int64_t, most> nanoseconds_; // NOLINT(*-member-init): zeros, and no page of it in use yet
};

/// What the processes of an experiment do with the ledger's mutex and with the driver. Lies in Shared memory.
struct Recording {
  struct Phase {
    Samples held;         ///< for how long the ledger's mutex was held
    Samples on_processor; ///< for how much of that the holder ran
    Samples looks;        ///< how long the devices' answers took, asked without the mutex
  };
  static constexpr std::size_t quiet = 0;
  static constexpr std::size_t others_start = 1;
  std::array<Phase, 2> phases;
  std::atomic<std::size_t> phase{quiet};
  std::atomic<std::uint64_t> nvml_calls{0};
};

/// Records from now on what this process does, and those that it forks; null: nothing.
void record_to(Recording* recording);

/// Adds to the calls of NVML's functions. recording.cpp counts those of a real NVML itself.
void record_nvml_calls(std::uint64_t calls);

/// Throws where devices were looked at, and no mutex or no call of NVML was recorded: recording.cpp is then not linked
/// in place of the library's functions.
void must_have_recorded(const Recording& recording);

/// Whether the phase is that in which other processes start.
[[nodiscard]] bool others_start();

/// While it lives, mutexes that this process takes are not the ledger's.
class OtherMutex {
public:
  OtherMutex();
  OtherMutex(const OtherMutex&) = delete;
  OtherMutex& operator=(const OtherMutex&) = delete;
  ~OtherMutex();
};

/// While it lives this process looks at a device, for so long. Throws std::logic_error if it holds the ledger's mutex.
class Look {
public:
  Look();
  Look(const Look&) = delete;
  Look& operator=(const Look&) = delete;
  ~Look();

private:
  OtherMutex other_mutex_;
  std::int64_t began_at_;
};

} // namespace gputest::benchmarks
