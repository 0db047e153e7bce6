// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/bytes.hpp>
#include <gputest/capability.hpp>
#include <gputest/memory_class.hpp>
#include <gputest/request.hpp>

#include <optional>
#include <string>
#include <type_traits>

namespace gputest {

/// The needs of one test or of one suite. A less specific source supplies what they leave out.
struct Needs {
  std::optional<MemoryClass> memory_class;
  std::optional<Bytes> bytes; ///< per device
  std::optional<int> gpus;
  std::optional<Bytes> heap; ///< for `malloc` in kernels
  Capabilities capabilities;
  bool suite_lease = false; ///< of a suite: one lease for all its tests, SetUpTestSuite and TearDownTestSuite included
  bool no_gpu = false;      ///< it uses no GPU: it takes no lease, never waits, and runs without a GPU too
  std::optional<Bytes> keeps; ///< per device, may stay allocated at the end
  bool alone = false;         ///< nobody else uses its devices meanwhile

  /// Whether it says anything about memory.
  [[nodiscard]] bool says_memory() const { return memory_class || bytes; }

  /// Whether it says anything that only a GPU can serve.
  [[nodiscard]] bool says_gpu() const {
    return says_memory() || gpus || heap || keeps || suite_lease || alone || !capabilities.empty();
  }
};

/// What a test asks for, from all sources. Pure.
///
/// Memory, number of GPUs and heap each come from the most specific source that says them: the test, its suite, its
/// fixture (memory only), the CTest entry. If a more specific source says only bytes, the class of the less specific
/// source holds. The bytes of the entry hold for medium and large fixtures that say none. Capabilities and `alone` add
/// up.
[[nodiscard]] Request resolve(const Needs& test, const Needs& suite, std::optional<MemoryClass> fixture,
                              const Request& entry);

/// Whether a test uses a GPU: the most specific source that says so decides, of the test, its suite, its fixture and
/// the CTest entry (`host_otherwise`: what the last two say). Pure.
[[nodiscard]] bool uses_gpu(const Needs& test, const Needs& suite, bool host_otherwise);

/// The contradiction in the needs, and what is allowed; empty if there is none. Pure.
[[nodiscard]] std::string contradiction_in(const Needs& needs);

/// The words of GPUTEST_NEEDS and GPUTEST_SUITE_NEEDS, in addition to sizes and gputest::capabilities.
namespace words {

inline constexpr MemoryClass small = MemoryClass::small;
inline constexpr MemoryClass medium = MemoryClass::medium;
inline constexpr MemoryClass large = MemoryClass::large;

struct Gpus {
  int count;
};
/// The number of distinct devices, 1 to 16.
constexpr Gpus gpus(int count) { return {count}; }

struct Heap {
  Bytes size;
};
/// A heap for `malloc` in kernels, set before the first kernel and counted in addition to the bytes.
constexpr Heap heap(Bytes size) { return {size}; }

struct Keeps {
  Bytes size;
};
/// Memory of each device that may stay allocated when the lease ends: a workspace that a library keeps.
constexpr Keeps keeps(Bytes size) { return {size}; }

struct SuiteLease {};
/// One lease for the whole suite, from before SetUpTestSuite until after TearDownTestSuite.
inline constexpr SuiteLease suite_lease{};

struct Alone {};
/// Nobody else uses the devices while the test runs: for what asserts on free memory, clocks or times.
inline constexpr Alone alone{};

struct NoGpu {};
/// No GPU is used: no lease, no waiting, and the test runs on a machine without a GPU too. It stands alone.
inline constexpr NoGpu no_gpu{};

} // namespace words

namespace detail {

inline void say(Needs& needs, Bytes bytes) { needs.bytes = bytes; }
inline void say(Needs& needs, MemoryClass memory_class) { needs.memory_class = memory_class; }
inline void say(Needs& needs, words::Gpus gpus) { needs.gpus = gpus.count; }
inline void say(Needs& needs, words::Heap heap) { needs.heap = heap.size; }
inline void say(Needs& needs, words::Keeps keeps) { needs.keeps = keeps.size; }
inline void say(Needs& needs, words::SuiteLease /*lease*/) { needs.suite_lease = true; }
inline void say(Needs& needs, words::Alone /*alone*/) { needs.alone = true; }
inline void say(Needs& needs, words::NoGpu /*no_gpu*/) { needs.no_gpu = true; }
inline void say(Needs& needs, const Capability& capability) {
  needs.capabilities = needs.capabilities | Capabilities{capability};
}

template <class Word, class... Words>
inline constexpr int count_of = (0 + ... + (std::is_same_v<Word, Words> ? 1 : 0));

template <class Word>
inline constexpr bool is_word = count_of<Word, Bytes, MemoryClass, words::Gpus, words::Heap, words::Keeps,
                                         words::SuiteLease, words::Alone, words::NoGpu, Capability> == 1;

/// The needs that the words describe, in any order.
template <bool of_suite, class... Words>
Needs needs_of(const Words&... said) {
  static_assert(sizeof...(Words) != 0, "say what is needed: a size such as 3_GiB, small, medium, large, gpus(2), ...");
  static_assert((is_word<Words> && ...),
                "allowed are a size with its unit such as 3_GiB, small, medium, large, "
                "gpus(n), heap(size), keeps(size), capabilities such as sm(80), alone, suite_lease, and no_gpu");
  static_assert(count_of<Bytes, Words...> <= 1, "two sizes are said; the memory per device is one");
  static_assert(count_of<MemoryClass, Words...> <= 1, "two memory classes are said");
  static_assert(count_of<words::Gpus, Words...> <= 1, "gpus() is said twice");
  static_assert(count_of<words::Heap, Words...> <= 1, "heap() is said twice");
  static_assert(count_of<words::Keeps, Words...> <= 1, "keeps() is said twice");
  static_assert(count_of<words::NoGpu, Words...> == 0 || sizeof...(Words) == 1,
                "no_gpu stands alone: a test that uses no GPU needs nothing else of one");
  static_assert(of_suite || count_of<words::SuiteLease, Words...> == 0,
                "suite_lease is for suites: GPUTEST_SUITE_NEEDS(Suite, ..., suite_lease)");
  Needs needs;
  (say(needs, said), ...);
  return needs;
}

} // namespace detail

} // namespace gputest
