// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/large_policy.hpp"

#include "core/policy/exact_regex.hpp"
#include "core/policy/shell_words.hpp"

namespace gputest::policy {

LargeDecision decide_large(LargePolicy policy, RunMode mode) {
  if (policy != LargePolicy::exclude) {
    return LargeDecision::wait;
  }
  return mode == RunMode::parallel ? LargeDecision::exclude : LargeDecision::only_if_free;
}

std::string command_for_large(const OneTest& test) {
  std::vector<std::string> words;
  if (!test.ctest_name.empty()) {
    words.emplace_back("ctest");
    words.insert(words.end(), test.ctest_options.begin(), test.ctest_options.end());
    for (const std::string& word : {std::string{"-j1"}, std::string{"-R"}, exact_regex(test.ctest_name)}) {
      words.push_back(word);
    }
    return shell_words(words);
  }
  words = test.command;
  if (!test.filter.empty()) {
    words.push_back(test.filter);
  }
  return shell_words(words);
}

} // namespace gputest::policy
