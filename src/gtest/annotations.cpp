#include "gtest/annotations.hpp"

#include <gputest/gtest/annotate.hpp>

#include <algorithm>
#include <string_view>
#include <vector>

namespace gputest::detail {

namespace {

std::vector<Annotation>& annotations() {
  static std::vector<Annotation> all;
  return all;
}

/// Whether `part` is one of the parts of a name such as `Instance/Suite/0`.
bool has_part(std::string_view name, std::string_view part) {
  for (;;) {
    const auto slash = name.find('/');
    if (name.substr(0, slash) == part) {
      return true;
    }
    if (slash == std::string_view::npos) {
      return false;
    }
    name.remove_prefix(slash + 1);
  }
}

bool names(const Annotation& annotation, const ::testing::TestInfo& test) {
  return has_part(test.test_suite_name(), annotation.suite) && has_part(test.name(), annotation.test);
}

} // namespace

bool annotate(const Annotation& annotation) {
  annotations().push_back(annotation);
  return true;
}

std::optional<Requirement> annotation_of(const ::testing::TestInfo& test) {
  const auto& all = annotations();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Annotation& a) { return names(a, test); });
  return found == all.end() ? std::nullopt : std::optional{found->requirement};
}

std::string annotations_of_nothing(const ::testing::UnitTest& unit_test) {
  std::string text;
  for (const auto& annotation : annotations()) {
    bool found = false;
    for (int s = 0; s < unit_test.total_test_suite_count(); ++s) {
      const auto& suite = *unit_test.GetTestSuite(s);
      for (int t = 0; t < suite.total_test_count(); ++t) {
        found = found || names(annotation, *suite.GetTestInfo(t));
      }
    }
    if (!found) {
      text +=
          (text.empty() ? "" : ", ") + std::string{"GPUTEST_MEMORY("} + annotation.suite + ", " + annotation.test + ")";
    }
  }
  return text;
}

} // namespace gputest::detail
