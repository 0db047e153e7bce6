// SPDX-License-Identifier: BSD-3-Clause
#include "known_needs.hpp"

#include "test_part.hpp"

#include <gputest/gtest/fixtures.hpp>
#include <gputest/test_list.hpp>
#include <gputest/test_run.hpp>

#include <algorithm>
#include <map>
#include <string_view>

namespace gputest::detail {

using Function = ::testing::internal::SetUpTestSuiteFunc;
using ::testing::TestSuite;

struct SetUpOfSuite {
  using Member = Function TestSuite::*; // clang++ would read Function::testing
  friend Member member_of(SetUpOfSuite /*tag*/);
};
struct TearDownOfSuite {
  using Member = Function TestSuite::*;
  friend Member member_of(TearDownOfSuite /*tag*/);
};
template struct PrivateMember<SetUpOfSuite, &::testing::TestSuite::set_up_tc_>;
template struct PrivateMember<TearDownOfSuite, &::testing::TestSuite::tear_down_tc_>;

namespace {

using ::testing::TestInfo;

/// What is known of this executable. Annotations come before main().
struct OfExecutable {
  std::vector<Annotation> annotations;
  std::map<std::string, SuiteFixture> built_fixtures; ///< by suite
  struct {
    TestSuite* suite = nullptr;
    Function set_up = nullptr;
    Function tear_down = nullptr;
  } forbidden; ///< a suite whose functions were removed, and these functions
};
OfExecutable& of_executable() {
  static OfExecutable all;
  return all;
}

Function set_up_of(const TestSuite& suite) {
  const auto& forbidden = of_executable().forbidden;
  return forbidden.suite == &suite ? forbidden.set_up : suite.*member_of(SetUpOfSuite{});
}
Function tear_down_of(const TestSuite& suite) {
  const auto& forbidden = of_executable().forbidden;
  return forbidden.suite == &suite ? forbidden.tear_down : suite.*member_of(TearDownOfSuite{});
}

/// What an annotation can be for, as the source names it.
struct SourceName {
  std::string_view suite;
  std::string_view test; ///< empty: the suite itself
};

/// GoogleTest makes `Instance/Suite/Type` of a suite's name, with those parts that it has.
std::string_view name_in_source(std::string_view suite, const char* type_param) {
  if (type_param != nullptr) {
    suite = suite.substr(0, suite.rfind('/'));
  }
  const auto instance = suite.find('/');
  return instance == std::string_view::npos ? suite : suite.substr(instance + 1);
}

SourceName source_name(const TestSuite& suite) { return {name_in_source(suite.name(), suite.type_param()), {}}; }
SourceName source_name(const TestInfo& test) {
  const std::string_view name = test.name(); // with the parameter that GoogleTest appends
  return {name_in_source(test.test_suite_name(), test.type_param()), name.substr(0, name.find('/'))};
}
SourceName source_name(const Annotation& annotation) {
  return {annotation.suite, annotation.test != nullptr ? annotation.test : ""};
}

bool is_for(const Annotation& annotation, const SourceName& name) {
  const auto named = source_name(annotation);
  return named.suite == name.suite && named.test == name.test;
}

/// An annotation as it is written, without its needs.
std::string text_of(const SourceName& name) {
  return (name.test.empty() ? "GPUTEST_SUITE_NEEDS(" : "GPUTEST_NEEDS(") + std::string{name.suite} +
         (name.test.empty() ? "" : ", ") + std::string{name.test} + ", ...)";
}

std::string file_and_line(const Annotation& annotation) {
  return std::string{annotation.file} + ":" + std::to_string(annotation.line);
}

/// What can be annotated in this executable: suites, or tests.
std::vector<SourceName> all_names(const ::testing::UnitTest& unit_test, bool of_suites) {
  std::vector<SourceName> names;
  for_each_test(unit_test, [&](const TestSuite& suite, const TestInfo& test) {
    names.push_back(of_suites ? source_name(suite) : source_name(test));
  });
  return names;
}

/// The functions of one of gputest's fixtures, as a suite stores them.
struct Own {
  Function set_up;
  Function tear_down;
  SuiteFixture fixture;
};

const std::vector<Own>& own_fixtures() {
  static const std::vector<Own> all{
      {&SmallTest::SetUpTestSuite, &SmallTest::TearDownTestSuite, {MemoryClass::small}},
      {&MediumTest::SetUpTestSuite, &MediumTest::TearDownTestSuite, {MemoryClass::medium}},
      {&LargeTest::SetUpTestSuite, &LargeTest::TearDownTestSuite, {MemoryClass::large}},
      {&ScopedTest::SetUpTestSuite, &ScopedTest::TearDownTestSuite, {std::nullopt, true}},
      {&HostTest::SetUpTestSuite, &HostTest::TearDownTestSuite, {std::nullopt, false, true}},
  };
  return all;
}

/// That of the name; nullptr: there is none.
const Annotation* find_annotation(const SourceName& name) {
  const auto& all = of_executable().annotations;
  const auto found = std::find_if(all.begin(), all.end(), [&](const Annotation& one) { return is_for(one, name); });
  return found == all.end() ? nullptr : &*found;
}

Needs needs_of(const SourceName& name) {
  const auto* const found = find_annotation(name);
  return found == nullptr ? Needs{} : found->needs;
}

/// Whether a function of a suite is neither GoogleTest's nor that of one of gputest's fixtures.
bool is_the_users(Function function, Function googletests, Function Own::*of_fixture) {
  const auto& own = own_fixtures();
  return function != nullptr && function != googletests &&
         std::none_of(own.begin(), own.end(), [&](const Own& fixture) { return fixture.*of_fixture == function; });
}

} // namespace

bool annotate(const Annotation& annotation) {
  auto& all = of_executable().annotations;
  // Every translation unit that includes a header says what is in it.
  if (std::none_of(all.begin(), all.end(), [&](const Annotation& one) {
        return is_for(one, source_name(annotation)) && file_and_line(one) == file_and_line(annotation);
      })) {
    all.push_back(annotation);
  }
  return true;
}

std::string name_of(const TestInfo& test) { return std::string{test.test_suite_name()} + "." + test.name(); }

Needs needs_of_test(const TestInfo& test) { return needs_of(source_name(test)); }

Needs needs_of_suite(const TestSuite& suite) { return needs_of(source_name(suite)); }

std::string contradiction_of(const TestSuite& suite, const TestInfo& test) {
  const auto at = [](const Annotation& annotation) {
    return file_and_line(annotation) + ": " + text_of(source_name(annotation));
  };
  const Annotation* of_test = nullptr;
  const Annotation* of_suite = nullptr;
  for (const auto& annotation : of_executable().annotations) {
    const bool is_of_test = is_for(annotation, source_name(test));
    if (!is_of_test && !is_for(annotation, source_name(suite))) {
      continue;
    }
    if (const auto why = contradiction_in(annotation.needs); !why.empty()) {
      return at(annotation) + " says " + why;
    }
    const Annotation*& first = is_of_test ? of_test : of_suite;
    if (first != nullptr) {
      return at(annotation) + " is already given at " + file_and_line(*first) + "; give it once";
    }
    first = &annotation;
  }
  if (of_test != nullptr && of_suite != nullptr && of_test->needs.no_gpu && of_suite->needs.suite_lease) {
    return at(*of_test) + " says no_gpu, and its suite has one lease for all its tests, without which none of them "
                          "runs; put the test into another suite";
  }
  for (const Annotation* annotation : {of_test, of_suite}) {
    if (annotation != nullptr && annotation->needs.says_gpu() && fixture_of(suite).host) {
      return at(*annotation) + " says what it needs of a GPU, and its fixture is a HostTest, which uses none; derive "
                               "the fixture from another class of gputest's, or leave the annotation out";
    }
  }
  return "";
}

bool uses_gpu(const TestSuite& suite, const TestInfo& test) { return uses_gpu(suite, test, fixture_of(suite)); }

bool uses_gpu(const TestSuite& suite, const TestInfo& test, const SuiteFixture& fixture) {
  const bool fixture_uses_gpu = fixture.memory_class || fixture.scoped;
  return gputest::uses_gpu(needs_of_test(test), needs_of_suite(suite),
                           fixture.host || (TestRun::of_process().no_gpu() && !fixture_uses_gpu));
}

bool is_disabled(const TestSuite& suite, const TestInfo& test) {
  const auto is_name_disabled = [](std::string_view name) {
    return name.rfind("DISABLED_", 0) == 0 || name.find("/DISABLED_") != std::string_view::npos;
  };
  return is_name_disabled(suite.name()) || is_name_disabled(test.name());
}

SuiteFixture fixture_of(const TestSuite& suite) {
  if (const auto built = of_executable().built_fixtures.find(suite.name());
      built != of_executable().built_fixtures.end()) {
    return built->second;
  }
  const Function set_up = set_up_of(suite);
  const Function tear_down = tear_down_of(suite);
  for (const auto& own : own_fixtures()) {
    if (set_up == own.set_up || tear_down == own.tear_down) {
      return own.fixture;
    }
  }
  // One of gputest's fixtures shows in one of the two, unless the user's fixture hides both.
  return {std::nullopt, false, false, !(has_set_up(suite) && has_tear_down(suite))};
}

Request known_request(const TestSuite& suite, const TestInfo& test, const Request& entry) {
  const auto of_suite = needs_of_suite(suite);
  return resolve(of_suite.suite_lease ? Needs{} : needs_of_test(test), of_suite, fixture_of(suite).memory_class, entry);
}

std::string reason_for_own_process(const TestSuite& suite, const TestInfo& test, const Request& entry) {
  if (std::string{suite.name()}.find("DeathTest") != std::string::npos) { // as GoogleTest asks them to be called
    return "it is a death test";
  }
  if (!uses_gpu(suite, test)) {
    return {};
  }
  const auto request = known_request(suite, test, entry);
  return request.memory_class == MemoryClass::large ? "it is large"
         : request.alone                            ? "it is alone on its device"
         : request.gpus > 1                         ? "it needs several GPUs"
         : request.heap > Bytes{}                   ? "it sets the device heap"
                                                    : "";
}

void remember_fixture(const TestSuite& suite, const SuiteFixture& fixture) {
  of_executable().built_fixtures[suite.name()] = fixture;
}

bool has_set_up(const TestSuite& suite) {
  return is_the_users(set_up_of(suite), &::testing::Test::SetUpTestSuite, &Own::set_up);
}

bool has_tear_down(const TestSuite& suite) {
  return is_the_users(tear_down_of(suite), &::testing::Test::TearDownTestSuite, &Own::tear_down);
}

void forbid_set_up(const TestSuite& suite) {
  auto& one = const_cast<TestSuite&>(suite); // NOLINT: GoogleTest shows its suites as constants, but makes none
  of_executable().forbidden = {&one, std::exchange(one.*member_of(SetUpOfSuite{}), nullptr),
                               std::exchange(one.*member_of(TearDownOfSuite{}), nullptr)};
}

void allow_set_up() {
  const auto one = std::exchange(of_executable().forbidden, {});
  if (one.suite != nullptr) {
    one.suite->*member_of(SetUpOfSuite{}) = one.set_up;
    one.suite->*member_of(TearDownOfSuite{}) = one.tear_down;
  }
}

std::vector<Misnamed> misnamed_annotations(const ::testing::UnitTest& unit_test) {
  std::vector<Misnamed> all;
  if (of_executable().annotations.empty()) {
    return all;
  }
  const auto suites = all_names(unit_test, true);
  const auto tests = all_names(unit_test, false);
  for (const auto& annotation : of_executable().annotations) {
    const bool of_suite = annotation.test == nullptr;
    const auto& names = of_suite ? suites : tests;
    if (std::any_of(names.begin(), names.end(), [&](const SourceName& name) { return is_for(annotation, name); })) {
      continue;
    }
    const auto text = text_of(source_name(annotation));
    const auto distance = [&](const SourceName& name) { return edit_distance(text, text_of(name)); };
    const auto nearest = std::min_element(names.begin(), names.end(), [&](const SourceName& a, const SourceName& b) {
      return distance(a) < distance(b);
    });
    all.push_back({std::string{annotation.suite} + (of_suite ? "" : std::string{"_"} + annotation.test),
                   text + " names no " + (of_suite ? "suite" : "test") +
                       " of this executable; write the names as in TEST()" +
                       (nearest == names.end() ? "" : ". The nearest is " + text_of(*nearest)),
                   annotation.file, annotation.line});
  }
  return all;
}

void register_misnamed_annotations(const ::testing::UnitTest& unit_test) {
  class Fails : public ::testing::Test {
  public:
    explicit Fails(Misnamed annotation) : annotation_{std::move(annotation)} {}
    void TestBody() override { ADD_FAILURE_AT(annotation_.file, annotation_.line) << annotation_.text; }

  private:
    Misnamed annotation_;
  };
  for (const auto& annotation : misnamed_annotations(unit_test)) {
    ::testing::RegisterTest(misnamed_suite, annotation.name.c_str(), nullptr, nullptr, annotation.file, annotation.line,
                            [annotation]() -> ::testing::Test* {
                              return new Fails{annotation}; // NOLINT(cppcoreguidelines-owning-memory)
                            });
  }
}

} // namespace gputest::detail
