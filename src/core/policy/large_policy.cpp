// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/large_policy.hpp"

#include "core/policy/text.hpp"

namespace gputest::policy {

LargeDecision decide_large(LargePolicy policy, RunMode mode) {
  if (policy != LargePolicy::exclude) {
    return LargeDecision::wait;
  }
  return mode == RunMode::parallel ? LargeDecision::exclude : LargeDecision::only_if_free;
}

std::string command_for_large(const OneTest& test) {
  std::vector<std::string> words = test.command;
  if (!test.ctest_name.empty()) {
    words = {"ctest"};
    words.insert(words.end(), test.ctest_options.begin(), test.ctest_options.end());
    words.insert(words.end(), {"-j1", "-R", exact_regex(test.ctest_name)});
  } else if (!test.filter.empty()) {
    words.push_back(test.filter);
  }
  return shell_words(words);
}

} // namespace gputest::policy
