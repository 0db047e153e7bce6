// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace gputest::detail {

using Words = std::vector<std::uintptr_t>; ///< an object as it lies in memory

/// At which word of an object a std::vector begins to which `added` was appended since the object was `before`.
[[nodiscard]] std::optional<std::size_t> find_vector(const Words& before, const Words& after,
                                                     const ::testing::Environment* added);

/// Keeps the program's environments for several calls of RUN_ALL_TESTS(). Since GoogleTest 1.15 each call ends by
/// deleting them, so that the next call has none.
///
/// GoogleTest has no function for this. Its std::vector of environments is found by what it changes when one is added.
/// At the end of each call others are put in their place, for GoogleTest to delete.
class KeptEnvironments : public ::testing::EmptyTestEventListener {
public:
  /// Appends one to GoogleTest's listeners, which own it.
  [[nodiscard]] static KeptEnvironments& append();

  /// Puts them back; to be called after each RUN_ALL_TESTS(). False if they may have been deleted.
  [[nodiscard]] bool put_back();

  /// Deletes them if GoogleTest would have done it; to be called after the last RUN_ALL_TESTS().
  void end();

  void OnTestProgramEnd(const ::testing::UnitTest& unit_test) override;

private:
  [[nodiscard]] std::pair<::testing::Environment**, ::testing::Environment**> places() const;

  std::optional<std::size_t> vector_; ///< where it is in GoogleTest's object
  std::vector<::testing::Environment*> taken_;
  bool googletest_deletes_ = false;
};

} // namespace gputest::detail
