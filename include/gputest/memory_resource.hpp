#pragma once

#include <gputest/memory_kind.hpp>
#include <gputest/stream_handle.hpp>

#include <cstddef>

namespace gputest {

namespace detail {

/// What memory_resource and managed_memory_resource have in common: the functions that CUDA's memory-resource concepts
/// ask for, under the names of every generation of them (see gputest/cuda/memory_resource.hpp).
///
/// A value that owns nothing: copies are equal, and memory of one may be given to the other. Thread-safe. All objects
/// of the process share the running test's lease. Memory is aligned to 256 bytes.
class Resource {
public:
  static constexpr std::size_t most_alignment = 256; ///< what the driver gives, and the most that may be asked

  /// The device, in CUDA's order of those that this process sees.
  [[nodiscard]] int device() const { return device_; }

  /// Where the memory comes from.
  [[nodiscard]] MemoryKind kind() const { return kind_; }

  /// Allocates, ready for every stream. Null for 0 bytes.
  ///
  /// Throws LeaseExceeded, before the driver is asked, for more than is left of the bytes that the running test has
  /// leased on this device; OutOfMemory if the device has no room; InvalidSetting for an alignment that is no power of
  /// two up to 256; Error, with CUDA's name of it, for any other answer of the driver.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment = most_alignment);

  /// Allocates in the order of `stream`; otherwise as allocate(). Of kind malloc and managed, ready for every stream.
  [[nodiscard]] void* allocate_async(std::size_t bytes, std::size_t alignment, StreamHandle stream);

  /// Gives back memory that no stream uses any more. What this process has not allocated here is left alone, and said
  /// on stderr, as is what the driver fails to free.
  void deallocate(void* pointer, std::size_t bytes, std::size_t alignment = most_alignment) noexcept;

  /// Gives back in the order of `stream`; of kind malloc and managed it waits for that.
  void deallocate_async(void* pointer, std::size_t bytes, std::size_t alignment, StreamHandle stream) noexcept;

  // The same, under the other names that the concepts and their users know.
  [[nodiscard]] void* allocate_async(std::size_t bytes, StreamHandle stream) {
    return allocate_async(bytes, most_alignment, stream);
  }
  [[nodiscard]] void* allocate(StreamHandle stream, std::size_t bytes, std::size_t alignment = most_alignment) {
    return allocate_async(bytes, alignment, stream);
  }
  [[nodiscard]] void* allocate_sync(std::size_t bytes, std::size_t alignment = most_alignment) {
    return allocate(bytes, alignment);
  }
  void deallocate_async(void* pointer, std::size_t bytes, StreamHandle stream) noexcept {
    deallocate_async(pointer, bytes, most_alignment, stream);
  }
  void deallocate(StreamHandle stream, void* pointer, std::size_t bytes,
                  std::size_t alignment = most_alignment) noexcept {
    deallocate_async(pointer, bytes, alignment, stream);
  }
  void deallocate_sync(void* pointer, std::size_t bytes, std::size_t alignment = most_alignment) noexcept {
    deallocate(pointer, bytes, alignment);
  }

  /// Whether memory of one may be given back to the other.
  friend bool operator==(const Resource& a, const Resource& b) { return a.device_ == b.device_ && a.kind_ == b.kind_; }
  friend bool operator!=(const Resource& a, const Resource& b) { return !(a == b); }

protected:
  Resource(int device, MemoryKind kind) : device_{device}, kind_{kind} {}

private:
  int device_;
  MemoryKind kind_;
};

} // namespace detail

/// Memory of a device, from its memory pool where it has pools and from the driver itself where not; or of a simulated
/// device, where it is counted and must never be touched.
///
/// Make it in a test or a fixture: its constructor initialises CUDA, which a variable at namespace scope would do
/// before gputest has chosen a device. Which of the two it is, is asked of the driver, said once on stderr, and
/// recorded with the test as the property `gputest_memory_resource`.
// NOLINTNEXTLINE(readability-identifier-naming): named as CUDA's and RMM's are.
class memory_resource : public detail::Resource {
public:
  /// What the device can; `GPUTEST_MEMORY_RESOURCE=pool` or `malloc` goes before that.
  ///
  /// Throws InvalidSetting where the setting asks for pools on a device that has none, or there is no such simulated
  /// device; Error where there is no usable driver or device.
  explicit memory_resource(int device = 0);

  /// This kind and no other, pool or malloc; goes before the setting. Throws as the other one does.
  memory_resource(int device, MemoryKind kind);
};

/// Unified memory, all of which counts against the lease of one device; the program has to see to it that it is used
/// there.
///
/// More than the device has free is refused before the driver is asked, since pages that move to and fro can hang a
/// device for minutes. What spills to the host all the same is reported at the test's end where it can be seen, which
/// is on simulated devices only: CUDA's driver does not tell where a page is.
// NOLINTNEXTLINE(readability-identifier-naming): named as CUDA's and RMM's are.
class managed_memory_resource : public detail::Resource {
public:
  /// Throws InvalidSetting where the device has no managed memory or there is no such simulated device; Error where
  /// there is no usable driver or device.
  explicit managed_memory_resource(int device = 0);
};

} // namespace gputest
