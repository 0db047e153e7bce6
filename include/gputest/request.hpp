// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/bytes.hpp>
#include <gputest/capability.hpp>
#include <gputest/memory_class.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace gputest {

/// The most devices that one test can ask for, as gpu_add_test() has it.
inline constexpr int max_gpus = 16;

/// Where a part of a request was declared; `estimate`: nowhere (MEMORY auto).
enum class SaidBy { entry, fixture, suite, test, section, estimate };

/// What a test asks for: memory per device, by class or in bytes, a number of distinct devices, and what these must
/// be able to do.
struct Request {
  MemoryClass memory_class = MemoryClass::small;
  /// Bytes per device, without the process's context. If not set, the class's limit holds.
  std::optional<Bytes> bytes;
  /// Number of distinct devices, 1 to 16.
  int gpus = 1;
  /// What each of the devices must have.
  Capabilities capabilities;
  /// Size of the heap for `malloc` in kernels; 0 does not change it. What it takes is counted in addition to the bytes.
  Bytes heap;
  /// Bytes per device that may stay allocated when its lease ends: what a library keeps.
  Bytes keeps;
  /// Nobody else uses the devices while the test has its lease. It waits for that, and needs no more memory for it.
  bool alone = false;
  /// Where a message says that the memory can be changed. Requests that differ in nothing else are equal, unless one of
  /// them is estimated.
  SaidBy memory_by = SaidBy::entry;
  /// Where `keeps` was declared: all tests to which that applies share the amount.
  SaidBy keeps_by = SaidBy::entry;

  constexpr Request() = default;
  // Implicit on purpose: `lease(MemoryClass::medium)` and `lease(3_GiB)` are what a test wants to write.
  constexpr Request(MemoryClass c) : memory_class{c} {} // NOLINT(google-explicit-constructor)
  Request(Bytes b);                                     // NOLINT(google-explicit-constructor)

  /// Whether nobody has declared its memory. A test may take more than an estimate: it asks for it before.
  [[nodiscard]] constexpr bool is_estimated() const { return memory_by == SaidBy::estimate; }

  friend bool operator==(const Request& a, const Request& b) {
    return a.memory_class == b.memory_class && a.bytes == b.bytes && a.gpus == b.gpus && a.heap == b.heap &&
           a.keeps == b.keeps && a.alone == b.alone && a.capabilities == b.capabilities &&
           a.is_estimated() == b.is_estimated();
  }
};

/// The class of a request that says only bytes, on any device: small up to 256 MiB, else medium, never large.
[[nodiscard]] MemoryClass class_of(Bytes bytes);

/// Reads `small`, `medium`, `large` or a size as parse_bytes() does, and ` alone` behind it. Throws InvalidSetting,
/// naming `what`.
[[nodiscard]] Request parse_request(std::string_view text, std::string_view what = "memory request");

/// Text for messages: `medium`, `3 GiB`, `3 GiB alone`, `large with 40 GiB`, `2 x 3 GiB`, `3 GiB and a heap of 64 MiB,
/// requiring sm_80`.
[[nodiscard]] std::string to_string(const Request& request);

/// The same without the capabilities.
[[nodiscard]] std::string memory_text(Request request);

} // namespace gputest
