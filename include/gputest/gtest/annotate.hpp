// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/needs.hpp>

#include <string>

namespace gputest::detail {

/// What an annotation says of a test, or of a suite.
struct Annotation {
  const char* suite;
  const char* test; ///< null for the suite
  Needs needs;
  const char* file;
  int line;
};

/// Remembers an annotation; called before main(). Returns true, so that it can initialise a constant.
bool annotate(const Annotation& annotation);

} // namespace gputest::detail

// NOLINTBEGIN(cppcoreguidelines-macro-usage): they must paste names, as TEST() does.

/// Declares what one test needs: `GPUTEST_NEEDS(Sort, Keys, 3_GiB, gpus(2), sm(80));`, at namespace scope.
///
/// The words, in any order: a size (memory per device); `small`, `medium` or `large`; `gpus(n)`; `heap(size)` for
/// malloc() in kernels; `keeps(size)` for memory that may stay allocated; `alone` if no other process may use the
/// devices meanwhile; and the names in gputest::capabilities for
/// what each device must have. A size without a class keeps the class of the suite or fixture: a LargeTest with a size
/// is a large test of that size. The word `no_gpu` stands alone: such a test takes no lease, never waits, and runs
/// without a GPU.
///
/// Applies to every instance of a parameterised or typed test. Takes precedence, word by word, over
/// GPUTEST_SUITE_NEEDS, which takes precedence over the fixture, and that over gpu_add_test(). Capabilities add up. If
/// a device lacks one, the test is skipped, and the reason has what was asked and what was found. Words that contradict
/// each other do not compile, or fail the test. An annotation that names no test fails as a test of its own,
/// `GputestNeeds.<Suite>_<Test>`.
#define GPUTEST_NEEDS(suite, test, ...) GPUTEST_DETAIL_NEEDS(suite, test, __VA_ARGS__)

// Names that are macros are expanded by now, as TEST() does.
#define GPUTEST_DETAIL_NEEDS(suite, test, ...)                                                                         \
  [[maybe_unused]] static const bool gputest_needs_of_##suite##_##test = [] {                                          \
    using namespace ::gputest::literals;                                                                               \
    using namespace ::gputest::capabilities;                                                                           \
    using namespace ::gputest::words;                                                                                  \
    return ::gputest::detail::annotate(                                                                                \
        {#suite, #test, ::gputest::detail::needs_of<false>(__VA_ARGS__), __FILE__, __LINE__});                         \
  }()

/// Declares what each test of a suite needs, as GPUTEST_NEEDS does: `GPUTEST_SUITE_NEEDS(Sort, medium, sm(80));`.
///
/// The word `suite_lease` makes it one lease for all of them: `GPUTEST_SUITE_NEEDS(Graph, 3_GiB, suite_lease);`. It is
/// held from before SetUpTestSuite() until after TearDownTestSuite(), so that data which the tests share can be
/// allocated and freed there. If it is not granted, neither of these two functions runs, and every test of the suite is
/// skipped or fails, with the reason. The tests run under this lease: a test must not ask for more memory. (GoogleTest
/// runs SetUpTestSuite() again in the child of a threadsafe death test, and the child's memory is used in addition.)
#define GPUTEST_SUITE_NEEDS(suite, ...) GPUTEST_DETAIL_SUITE_NEEDS(suite, __VA_ARGS__)

#define GPUTEST_DETAIL_SUITE_NEEDS(suite, ...)                                                                         \
  [[maybe_unused]] static const bool gputest_needs_of_suite_##suite = [] {                                             \
    using namespace ::gputest::literals;                                                                               \
    using namespace ::gputest::capabilities;                                                                           \
    using namespace ::gputest::words;                                                                                  \
    return ::gputest::detail::annotate(                                                                                \
        {#suite, nullptr, ::gputest::detail::needs_of<true>(__VA_ARGS__), __FILE__, __LINE__});                        \
  }()

// NOLINTEND(cppcoreguidelines-macro-usage)
