#include "policy/large_policy.hpp"

namespace gputest::policy {

namespace {

/// A name as a regular expression of CTest that matches it and nothing else.
std::string exactly(const std::string& name) {
  std::string regex = "^";
  for (const char c : name) {
    if (std::string{"^$.[]*+?|()\\"}.find(c) != std::string::npos) {
      regex += '\\';
    }
    regex += c;
  }
  return regex + "$";
}

} // namespace

LargeDecision decide_large(LargePolicy policy, RunMode mode) {
  if (policy != LargePolicy::exclude) {
    return LargeDecision::wait;
  }
  return mode == RunMode::parallel ? LargeDecision::exclude : LargeDecision::only_if_free;
}

std::string command_for_large(const std::string& ctest_name, const std::string& program,
                              const std::string& gtest_name) {
  if (!ctest_name.empty()) {
    return "ctest -j1 -R '" + exactly(ctest_name) + "'";
  }
  return gtest_name.empty() ? program : program + " --gtest_filter=" + gtest_name;
}

} // namespace gputest::policy
