#pragma once

#include <gputest/bytes.hpp>
#include <gputest/requirement.hpp>

namespace gputest::detail {

/// What an annotation says of a test.
struct Annotation {
  const char* suite;
  const char* test;
  Requirement requirement;
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
