// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "insights/ctest_suite.hpp"

#include <cstddef>
#include <set>
#include <vector>

namespace gputest::insights {

/// A task of an array that has ended, by the positions of its tests.
struct EndedTask {
  std::vector<std::size_t> tests;
  std::set<std::size_t> begun; ///< they had begun when the task was killed, and not ended
};

/// The tasks of the next array: the tests that are `lost`, without a result in any task.
///
/// A test that had begun when its task was killed may have killed it, and gets a task of its own, up to a hundred of
/// them. Lost tests of its name, which ctest cannot tell apart, and those that come after it go with it. The other lost
/// tests of a task form one task again. Pure.
[[nodiscard]] std::vector<std::vector<std::size_t>> follow_up_tasks(const std::vector<SuiteTest>& suite,
                                                                    const std::set<std::size_t>& lost,
                                                                    const std::vector<EndedTask>& ended);

} // namespace gputest::insights
