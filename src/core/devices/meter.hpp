// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/bytes.hpp>
#include <gputest/memory_kind.hpp>
#include <gputest/settings.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gputest::devices {

/// How a figure came about.
enum class Evidence {
  exact,   ///< every allocation was seen
  sampled, ///< the device was asked from time to time: a lower bound
  unknown, ///< nothing was seen
};

/// For people and programs: `exact`, `sampled` or `unknown`.
[[nodiscard]] constexpr const char* to_string(Evidence evidence) {
  return evidence == Evidence::exact ? "exact" : evidence == Evidence::sampled ? "sampled" : "unknown";
}

/// What memory was allocated as.
enum class AllocationKind {
  device,  ///< by a plain call, mapped by hand, or as arrays
  pool,    ///< in the order of a stream, from a memory pool; and by graphs
  managed, ///< counted in full, wherever its pages are
};

/// As what memory of a memory resource counts.
[[nodiscard]] constexpr AllocationKind allocation_kind_of(MemoryKind kind) {
  return kind == MemoryKind::pool     ? AllocationKind::pool
         : kind == MemoryKind::malloc ? AllocationKind::device
                                      : AllocationKind::managed;
}

/// Some allocations of one kind by one function.
struct Allocations {
  AllocationKind kind = AllocationKind::device;
  std::string function; ///< that the program called, or the driver's name of it
  Bytes bytes;          ///< of all of them
  std::size_t count = 0;
};

/// What a process has allocated of one device in a period, the context not counted.
struct DeviceUsage {
  int device = 0;                          ///< as the back end numbers this process's devices
  Bytes peak;                              ///< the most at one time, beyond what was allocated when the period began
  std::map<AllocationKind, Bytes> at_peak; ///< what the peak is made of; empty if that is not known
  std::vector<Allocations> left;           ///< allocated in the period and not freed; empty if that is not known
  Bytes reported_free = {};  ///< the most that was free when it asked, before it allocated; 0: it did not ask
  bool with_context = false; ///< sampled: a context was made in the period, and is in the peak
  Bytes wanted; ///< the most that it would have had, if the device had not been out of memory; 0: it never was
  std::vector<Bytes> refused; ///< the same of each time that it was, the least first; of many, the largest ones
  std::map<std::uint64_t, Bytes> kept; ///< what earlier periods have left, by their numbers
  Bytes kept_at_begin;                 ///< what they had left when the period began, though it may be free by now
};

/// What a process has allocated in a period.
struct Usage {
  Evidence evidence = Evidence::unknown;
  std::string because;              ///< if it is not exact: why
  std::vector<DeviceUsage> devices; ///< those of which anything was asked for, or was left by earlier periods
  std::uint64_t period = 0;         ///< its number; 0: periods have none
};

/// Measures what this process allocates, one period at a time.
///
/// Thread-safe. Does not throw, and never begins to use devices.
class Meter {
public:
  virtual ~Meter() = default;

  /// Begins a period. The first call should come before the process's first use of devices.
  virtual void begin() noexcept = 0;

  /// What the period shows up to now.
  [[nodiscard]] virtual Usage so_far() noexcept = 0;

  /// Ends it. Call it after the devices' work was synchronised.
  [[nodiscard]] virtual Usage end() noexcept { return so_far(); }

  /// What ask_beyond() calls, with what the period would come to.
  using Ask = std::function<void(const Usage&)>;

  /// Beyond what ask_beyond() asks.
  struct Limits {
    std::vector<Bytes> of_devices; ///< device i has the i-th limit, and any other one none at all
    Bytes total;                   ///< the most memory that a device here has
  };

  /// Until the next call, calls `ask` before each allocation with which this process would have more of a device than
  /// its limit, beyond what it had when the period began. Does not ask for what the driver will refuse: more device
  /// memory than a device has, or managed memory beyond any address space.
  /// `ask` is called in the thread that allocates, may end the process, and must not throw. An empty one ends this.
  /// Does nothing if sees_allocations() is false. Throws std::bad_alloc.
  virtual void ask_beyond(Limits /*limits*/, Ask /*ask*/) {}

  /// Whether it is told of each allocation, so that a period costs nothing but these.
  [[nodiscard]] virtual bool sees_allocations() const noexcept { return false; }
};

/// Measures nothing, and says why.
class NoMeter final : public Meter {
public:
  explicit NoMeter(std::string because) : because_{std::move(because)} {}

  void begin() noexcept override {}
  [[nodiscard]] Usage so_far() noexcept override {
    Usage usage;
    usage.because = because_;
    return usage;
  }

private:
  std::string because_;
};

// What src/metering/ provides. This module calls it, and knows no more of it.

/// What measures the memory that this process allocates of its GPUs, always the same one for one setting: by CUPTI,
/// else by samples. Call it first before the process's first CUDA call, after its devices were chosen. Never destroyed:
/// memory may be freed by a global variable's destructor. Thread-safe.
[[nodiscard]] Meter& cuda_meter(MeterSetting setting);

/// The same for simulated devices; a context and a device heap are in no figure. With MeterSetting::sampled it says
/// what samples would: a lower bound without kinds.
[[nodiscard]] Meter& simulated_meter(MeterSetting setting);

/// What simulated_meter() is told. `id` is the allocation's identity in this process, `function` a constant.
/// Thread-safe.
void note_simulated_allocation(std::uint64_t id, AllocationKind kind, int device, const char* function, Bytes bytes);
void ask_simulated_allocation(AllocationKind kind, int device, const char* function,
                              Bytes bytes); ///< before it is made
void note_simulated_free(std::uint64_t id);
void note_simulated_refusal(int device, Bytes bytes);
void note_simulated_answer(int device, Bytes free); ///< of what is free of the device

} // namespace gputest::devices
