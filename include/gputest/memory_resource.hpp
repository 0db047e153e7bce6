// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/memory_kind.hpp>
#include <gputest/stream_handle.hpp>

#include <cstddef>

namespace gputest {

namespace detail {

/// The common part of memory_resource and managed_memory_resource: the functions that CUDA's memory-resource concepts
/// require, under the names of each of their versions (see gputest/cuda/memory_resource.hpp).
///
/// A value that owns nothing. Copies are equal: each may free memory of the other. Thread-safe. All objects
/// of the process share the running test's lease. Memory is aligned to 256 bytes.
class Resource {
public:
  static constexpr std::size_t max_alignment = 256; ///< the driver's alignment, and the largest that may be asked for

  /// The device's number, in CUDA's order of the devices visible to this process.
  [[nodiscard]] int device() const { return device_; }

  /// Where the memory comes from.
  [[nodiscard]] MemoryKind kind() const { return kind_; }

  /// Allocates, ready for every stream. Null for 0 bytes.
  ///
  /// Throws LeaseExceeded, before it asks the driver, if the running test's lease on this device has fewer bytes left;
  /// OutOfMemory if the device has no room; InvalidSetting if the alignment is not a power of two up to 256; Error,
  /// with CUDA's name for it, for any other error of the driver.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment = max_alignment);

  /// Like allocate(), but in the order of `stream`. Memory of the kinds malloc and managed is ready for every stream.
  [[nodiscard]] void* allocate_async(std::size_t bytes, std::size_t alignment, StreamHandle stream);

  /// Frees memory that no stream uses any more. Memory that was not allocated here is not freed, but reported on
  /// stderr. So is an error of the driver.
  void deallocate(void* pointer, std::size_t bytes, std::size_t alignment = max_alignment) noexcept;

  /// Frees in the order of `stream`. For the kinds malloc and managed it waits for the stream.
  void deallocate_async(void* pointer, std::size_t bytes, std::size_t alignment, StreamHandle stream) noexcept;

  // The same, under the other names that the concepts and their users know.
  [[nodiscard]] void* allocate_async(std::size_t bytes, StreamHandle stream) {
    return allocate_async(bytes, max_alignment, stream);
  }
  [[nodiscard]] void* allocate(StreamHandle stream, std::size_t bytes, std::size_t alignment = max_alignment) {
    return allocate_async(bytes, alignment, stream);
  }
  [[nodiscard]] void* allocate_sync(std::size_t bytes, std::size_t alignment = max_alignment) {
    return allocate(bytes, alignment);
  }
  void deallocate_async(void* pointer, std::size_t bytes, StreamHandle stream) noexcept {
    deallocate_async(pointer, bytes, max_alignment, stream);
  }
  void deallocate(StreamHandle stream, void* pointer, std::size_t bytes,
                  std::size_t alignment = max_alignment) noexcept {
    deallocate_async(pointer, bytes, alignment, stream);
  }
  void deallocate_sync(void* pointer, std::size_t bytes, std::size_t alignment = max_alignment) noexcept {
    deallocate(pointer, bytes, alignment);
  }

  /// Whether each may free memory of the other.
  friend bool operator==(const Resource& a, const Resource& b) { return a.device_ == b.device_ && a.kind_ == b.kind_; }
  friend bool operator!=(const Resource& a, const Resource& b) { return !(a == b); }

protected:
  Resource(int device, MemoryKind kind) : device_{device}, kind_{kind} {}

private:
  int device_;
  MemoryKind kind_;
};

} // namespace detail

/// Memory of a device: from its memory pool if it has pools, else from the driver itself. Memory of a simulated device
/// is only counted and must never be touched.
///
/// Construct it in a test or a fixture: its constructor initialises CUDA, and a variable at namespace scope would do so
/// before gputest has chosen a device. The kind, pool or malloc, is found by asking the driver, and printed once on
/// stderr.
// NOLINTNEXTLINE(readability-identifier-naming): named as CUDA's and RMM's are.
class memory_resource : public detail::Resource {
public:
  /// Uses pool if the device has memory pools, else malloc. `GPUTEST_MEMORY_RESOURCE=pool` or `malloc` takes
  /// precedence.
  ///
  /// Throws InvalidSetting if the setting asks for pools on a device that has none, or if there is no such simulated
  /// device; Error if there is no usable driver or device.
  explicit memory_resource(int device = 0);

  /// Uses this kind, pool or malloc, in spite of the setting. Throws as the other constructor does.
  memory_resource(int device, MemoryKind kind);
};

/// Unified memory. All of it counts against the lease of one device; the program has to use it there.
///
/// A request for more than the device has free is refused before the driver is asked, because pages that move between
/// host and device can block a device for minutes. Memory that goes to the host nevertheless is reported at the test's
/// end if this can be detected. It can on simulated devices only: CUDA's driver does not report where a page is.
// NOLINTNEXTLINE(readability-identifier-naming): named as CUDA's and RMM's are.
class managed_memory_resource : public detail::Resource {
public:
  /// Throws InvalidSetting if the device has no managed memory or there is no such simulated device; Error if there is
  /// no usable driver or device.
  explicit managed_memory_resource(int device = 0);
};

} // namespace gputest
