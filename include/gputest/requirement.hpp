#pragma once

#include <gputest/bytes.hpp>
#include <gputest/capability.hpp>
#include <gputest/memory_class.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace gputest {

/// What a test asks for: memory per device, by class or in bytes, a number of distinct devices, and what these must
/// be able to do.
struct Requirement {
  MemoryClass memory_class = MemoryClass::small;
  /// Bytes per device, the process's context not counted; without them the class's limit holds.
  std::optional<Bytes> bytes;
  /// Number of distinct devices, at least 1.
  int gpus = 1;
  /// What each of the devices must have.
  Capabilities capabilities;
  /// Size of the heap for `malloc` in kernels; 0 leaves it as it is. What it takes is counted beside the bytes.
  Bytes heap;

  constexpr Requirement() = default;
  // Implicit on purpose: `lease(MemoryClass::medium)` and `lease(3_GiB)` are what a test wants to write.
  constexpr Requirement(MemoryClass c) : memory_class{c} {} // NOLINT(google-explicit-constructor)
  Requirement(Bytes b);                                     // NOLINT(google-explicit-constructor)

  friend bool operator==(const Requirement& a, const Requirement& b) {
    return a.memory_class == b.memory_class && a.bytes == b.bytes && a.gpus == b.gpus && a.heap == b.heap &&
           a.capabilities == b.capabilities;
  }
};

/// The class that bytes alone stand for, whatever the device: small up to 256 MiB, else medium. Large is only what says
/// so.
[[nodiscard]] MemoryClass class_of(Bytes bytes);

/// Reads `small`, `medium`, `large` or a size as parse_bytes() does. Throws InvalidSetting, naming `what`.
[[nodiscard]] Requirement parse_requirement(std::string_view text, std::string_view what = "memory requirement");

/// For people: `medium`, `3 GiB`, `large with 40 GiB`, `2 x 3 GiB`, `3 GiB and a heap of 64 MiB, requiring sm_80`.
[[nodiscard]] std::string to_string(const Requirement& requirement);

} // namespace gputest
