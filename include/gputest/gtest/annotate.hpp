#pragma once

#include <gputest/bytes.hpp>
#include <gputest/capability.hpp>
#include <gputest/requirement.hpp>

#include <optional>

namespace gputest::detail {

/// What an annotation says of a test.
struct Annotation {
  const char* suite;
  const char* test;
  std::optional<Requirement> requirement; ///< of GPUTEST_MEMORY
  Capabilities capabilities{};            ///< of GPUTEST_REQUIRES
  Bytes heap{};                           ///< of GPUTEST_HEAP
};

/// Remembers an annotation; called before main(). Returns true, so that it can initialise a constant.
bool annotate(const Annotation& annotation);

} // namespace gputest::detail

/// Gives one test its memory per device: `GPUTEST_MEMORY(Sort, Keys, 3_GiB);` or a MemoryClass, at namespace scope.
///
/// Holds for every instance of a parameterised or typed test. Goes before the fixture and before gpu_add_test(MEMORY).
/// The fixture's class stays: a LargeTest with bytes is a large test that takes these bytes.
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): it must paste names, as TEST() does.
#define GPUTEST_MEMORY(suite, test, ...)                                                                               \
  [[maybe_unused]] static const bool gputest_memory_of_##suite##_##test = [] {                                         \
    using namespace ::gputest::literals;                                                                               \
    return ::gputest::detail::annotate({#suite, #test, ::gputest::Requirement{__VA_ARGS__}});                          \
  }()

/// Says what the devices of one test must have: `GPUTEST_REQUIRES(Sort, Keys, memory_pools, sm(80),
/// total_memory(8_GiB));` with the names of gputest::capabilities, at namespace scope.
///
/// Holds for every instance of a parameterised or typed test, together with gpu_add_test(REQUIRES). Where a device
/// lacks something of it the test is skipped with what was asked and what was found.
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): it must paste names, as TEST() does.
#define GPUTEST_REQUIRES(suite, test, ...)                                                                             \
  [[maybe_unused]] static const bool gputest_requires_of_##suite##_##test = [] {                                       \
    using namespace ::gputest::literals;                                                                               \
    using namespace ::gputest::capabilities;                                                                           \
    return ::gputest::detail::annotate({#suite, #test, std::nullopt, ::gputest::Capabilities{__VA_ARGS__}});           \
  }()

/// Gives the kernels of one test a heap for `malloc`: `GPUTEST_HEAP(Graph, Builds, 64_MiB);`, at namespace scope.
///
/// Set on the test's devices before its first kernel, and counted with what it really takes. Holds for every instance
/// of a parameterised or typed test; goes before gpu_add_test(HEAP). It cannot change in a process: a test that asks
/// for another size than the one that is set fails, and says which test set it.
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): it must paste names, as TEST() does.
#define GPUTEST_HEAP(suite, test, size)                                                                                \
  [[maybe_unused]] static const bool gputest_heap_of_##suite##_##test = [] {                                           \
    using namespace ::gputest::literals;                                                                               \
    ::gputest::detail::Annotation annotation{#suite, #test, std::nullopt};                                             \
    annotation.heap = size;                                                                                            \
    return ::gputest::detail::annotate(annotation);                                                                    \
  }()
