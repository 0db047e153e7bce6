// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/os/mutex.hpp"
#include "metering/allocation_book.hpp"
#include "metering/cupti_api.hpp"

#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <vector>

namespace gputest::metering {

/// Which handles of virtual memory management (cuMemCreate) still have memory: CUDA frees it when the last reference to
/// the handle is released and the last mapping is removed, in any order.
///
/// Not thread-safe. Handles of other processes, and those made before anybody looked, are left alone.
class VirtualMemory {
public:
  using Handle = cupti::VirtualMemory;

  void created(Handle handle) { handles_[handle] = {1, 0}; }
  void retained(Handle handle);
  void mapped(std::uint64_t address, Handle handle);

  /// Whether the handle's memory is free with that.
  [[nodiscard]] bool released(Handle handle);

  /// The handles whose memory is free with that. A range may span several mappings.
  [[nodiscard]] std::vector<Handle> unmapped(std::uint64_t address, std::uint64_t bytes);

private:
  struct Uses {
    std::size_t references = 0;
    std::size_t mappings = 0;
  };

  [[nodiscard]] bool is_free(std::map<Handle, Uses>::iterator handle);

  std::map<Handle, Uses> handles_;
  std::map<std::uint64_t, Handle> mappings_; ///< by address
};

/// An array was made of a format of which it is not known here how large it is.
class UnknownArrayFormat : public std::exception {};

/// Keeps an AllocationBook by the calls of the CUDA driver that allocate and free memory.
///
/// Sizes are those that were asked for; of pitched memory with its padding, of an array without any. Thread-safe.
class DriverAllocations {
public:
  /// `driver` and `cupti` are bound before the first call, and live as long as this.
  DriverAllocations(AllocationBook& book, const cupti::DriverFunctions& driver, const cupti::Functions& cupti)
      : book_{book}, driver_{driver}, cupti_{cupti} {}

  /// Notes a call when it is entered and when it is left. Throws UnknownArrayFormat, std::bad_alloc.
  void note(cupti::Call call, const cupti::CallData& data);

  /// A context ends, and everything in it.
  void note_end(devices::cuda::Context context);

private:
  [[nodiscard]] std::unique_lock<os::Mutex> lock();
  void note_free(cupti::Call call, const cupti::CallData& data);
  void note_made(cupti::Call call, const cupti::CallData& data);
  void note_virtual(cupti::Call call, const cupti::CallData& data);
  [[nodiscard]] AllocationBook::Allocation asked_by(cupti::Call call, const cupti::CallData& data);
  void add(std::uint64_t address, const AllocationBook::Allocation& allocation);
  void add_from_pool(std::uint64_t address, AllocationBook::Allocation allocation);
  [[nodiscard]] bool is_captured(devices::cuda::Stream stream, bool of_thread) const;
  [[nodiscard]] int device_of(devices::cuda::Context context) const;

  AllocationBook& book_;
  const cupti::DriverFunctions& driver_;
  const cupti::Functions& cupti_;
  os::Mutex mutex_; ///< of what follows
  VirtualMemory virtual_memory_;
  std::map<devices::cuda::MemoryPool, devices::cuda::Location> pools_; ///< that the program has created
};

} // namespace gputest::metering
