#pragma once

#include <gputest/bytes.hpp>
#include <gputest/memory_kind.hpp>
#include <gputest/stream_handle.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace gputest::memory {

/// Where the memory of this process's devices comes from: the CUDA driver, or a simulation of it. Thread-safe.
class Source {
public:
  virtual ~Source() = default;

  /// The source that the settings ask for, made at the first call. Throws InvalidSetting, Error.
  static Source& instance();

  [[nodiscard]] virtual bool has_pools(int device) = 0;
  [[nodiscard]] virtual bool has_managed_memory(int device) = 0;

  /// What is free of the device's memory right now.
  [[nodiscard]] virtual Bytes free_bytes(int device) = 0;

  /// Allocates at least one byte, in the order of `stream`; with `wait` ready for every stream. Throws OutOfMemory,
  /// Error.
  [[nodiscard]] virtual void* allocate(MemoryKind kind, int device, Bytes bytes, StreamHandle stream, bool wait) = 0;

  /// Frees what allocate() gave. Returns what went wrong, or nothing.
  virtual std::string free(MemoryKind kind, int device, void* pointer, Bytes bytes, StreamHandle stream) noexcept = 0;

  /// Managed memory that has gone to the host since this was asked last, device by device; nullopt where that cannot be
  /// seen.
  [[nodiscard]] virtual std::optional<std::map<int, Bytes>> take_spills() = 0;
};

/// The CUDA driver. Throws Error where there is none.
[[nodiscard]] std::unique_ptr<Source> make_real_source();

/// Memory of simulated devices: counted as SimulatedBuffer's is, with addresses that are nobody else's and cannot be
/// touched.
[[nodiscard]] std::unique_ptr<Source> make_simulated_source();

} // namespace gputest::memory
