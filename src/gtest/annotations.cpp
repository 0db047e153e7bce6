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

/// The suite as the source names it: GoogleTest makes `Instance/Suite/Type` of it, with those parts that the test has.
std::string_view suite_of(const ::testing::TestInfo& test) {
  std::string_view name = test.test_suite_name();
  if (test.type_param() != nullptr) {
    name = name.substr(0, name.rfind('/'));
  }
  const auto instance = name.find('/');
  return instance == std::string_view::npos ? name : name.substr(instance + 1);
}

/// The test as the source names it, without the parameter that GoogleTest appends.
std::string_view name_of(const ::testing::TestInfo& test) {
  const std::string_view name = test.name();
  return name.substr(0, name.find('/'));
}

bool names(const Annotation& annotation, const ::testing::TestInfo& test) {
  return suite_of(test) == annotation.suite && name_of(test) == annotation.test;
}

const char* macro_of(const Annotation& annotation) {
  if (annotation.requirement) {
    return "GPUTEST_MEMORY";
  }
  return annotation.heap > Bytes{} ? "GPUTEST_HEAP" : "GPUTEST_REQUIRES";
}

} // namespace

bool annotate(const Annotation& annotation) {
  annotations().push_back(annotation);
  return true;
}

std::optional<Requirement> annotation_of(const ::testing::TestInfo& test) {
  const auto& all = annotations();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Annotation& a) { return a.requirement && names(a, test); });
  return found == all.end() ? std::nullopt : found->requirement;
}

Capabilities capabilities_of(const ::testing::TestInfo& test) {
  Capabilities capabilities;
  for (const auto& annotation : annotations()) {
    if (!annotation.capabilities.empty() && names(annotation, test)) {
      capabilities = capabilities | annotation.capabilities;
    }
  }
  return capabilities;
}

Bytes heap_annotation_of(const ::testing::TestInfo& test) {
  const auto& all = annotations();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Annotation& a) { return a.heap > Bytes{} && names(a, test); });
  return found == all.end() ? Bytes{} : found->heap;
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
      text += std::string{text.empty() ? "" : ", "} + macro_of(annotation) + "(" + annotation.suite + ", " +
              annotation.test + ")";
    }
  }
  return text;
}

} // namespace gputest::detail
