// SPDX-License-Identifier: BSD-3-Clause
// What gputest's part for Catch2, and the suites of these tests, use of Catch2: a stand-in for machines without a
// Catch2 3.
//
// It has Catch2's names, runs test cases in the order of Catch2 3.7, and ends with the exit codes of Catch2 3.3: the
// number of failed assertions, 4 if all test cases were skipped, 2 if there was none, and 3 if --warn=UnmatchedTestSpec
// is given and a name is that of no test case. Of the command line it also knows names separated by commas,
// --list-tests, --allow-running-no-tests and
// --reporter; sections do not contain others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#define CATCH_VERSION_MAJOR 3
#define CATCH_VERSION_MINOR 3

namespace Catch {

class StringRef {
public:
  StringRef(const char* text, std::size_t size) : text_{text}, size_{size} {}
  [[nodiscard]] const char* data() const { return text_; }
  [[nodiscard]] std::size_t size() const { return size_; }

private:
  const char* text_;
  std::size_t size_;
};

struct Tag {
  StringRef original;
};

struct SourceLineInfo { // it does not say where a test case is
  const char* file = "";
  std::size_t line = 0;
};

struct TestCaseInfo {
  std::string name;
  std::vector<Tag> tags;
  SourceLineInfo lineInfo; // NOLINT(readability-identifier-naming): Catch2's
  bool hidden = false;
  bool may_fail = false;
  [[nodiscard]] bool isHidden() const { return hidden; }
  [[nodiscard]] bool okToFail() const { return may_fail; }
};

class ITestInvoker {
public:
  ITestInvoker() = default;
  virtual ~ITestInvoker() = default;
  ITestInvoker(const ITestInvoker&) = delete;
  ITestInvoker& operator=(const ITestInvoker&) = delete;
  virtual void prepareTestCase() {}
  virtual void tearDownTestCase() {}
  virtual void invoke() const = 0;
};

class TestCaseHandle {
public:
  TestCaseHandle(TestCaseInfo* info, ITestInvoker* invoker) : info_{info}, invoker_{invoker} {}
  void prepareTestCase() const { invoker_->prepareTestCase(); }
  void tearDownTestCase() const { invoker_->tearDownTestCase(); }
  void invoke() const { invoker_->invoke(); }
  [[nodiscard]] const TestCaseInfo& getTestCaseInfo() const { return *info_; }

private:
  TestCaseInfo* info_;
  ITestInvoker* invoker_;
};

class TestSpec {
public:
  [[nodiscard]] bool hasFilters() const { return !names.empty(); }
  std::vector<std::string> names;
};

class IConfig {
public:
  [[nodiscard]] const TestSpec& testSpec() const { return spec; }
  [[nodiscard]] bool zeroTestsCountAsSuccess() const { return allows_none; }
  TestSpec spec;
  bool allows_none = false;
  bool warns_of_unmatched = false;
};

const std::vector<TestCaseHandle>& getAllTestCasesSorted(const IConfig& config);
std::vector<TestCaseHandle> filterTests(const std::vector<TestCaseHandle>& tests, const TestSpec& spec,
                                        const IConfig& config);

struct Counts {
  std::uint64_t passed = 0;
  std::uint64_t failed = 0;
  std::uint64_t failedButOk = 0;
  std::uint64_t skipped = 0;
  [[nodiscard]] std::uint64_t total() const { return passed + failed + failedButOk + skipped; }
};
struct Totals {
  Counts testCases;
};
struct TestRunInfo {};
struct AssertionResult {
  [[nodiscard]] bool isOk() const { return ok; }
  bool ok;
};
struct AssertionStats {
  AssertionResult assertionResult;
};
struct TestCaseStats {
  const TestCaseInfo* testInfo;
  Totals totals;
  bool aborting;
};
struct TestRunStats {
  Totals totals;
};

class EventListenerBase {
public:
  explicit EventListenerBase(const IConfig* config) : m_config{config} {}
  virtual ~EventListenerBase() = default;
  EventListenerBase(const EventListenerBase&) = delete;
  EventListenerBase& operator=(const EventListenerBase&) = delete;
  virtual void testRunStarting(const TestRunInfo& /*run*/) {}
  virtual void assertionEnded(const AssertionStats& /*stats*/) {}
  virtual void testCaseEnded(const TestCaseStats& /*stats*/) {}
  virtual void testRunEnded(const TestRunStats& /*stats*/) {}

protected:
  const IConfig* m_config; // NOLINT(readability-identifier-naming): Catch2's name
};

class Session {
public:
  static int run(int argc, char** argv);
};

namespace stand_in {

using MakeListener = EventListenerBase* (*)(const IConfig*);
bool add_listener(MakeListener make);
bool add_test_case(void (*body)(), const char* name, const char* tags = "");
bool enter_section(const char* name);
void check(bool holds, const std::string& text);
[[noreturn]] void leave_failed(const std::string& text);
[[noreturn]] void leave_skipped(const std::string& text);

} // namespace stand_in
} // namespace Catch

// NOLINTBEGIN(cppcoreguidelines-macro-usage)
#define STAND_IN_JOIN_TOKENS(a, b) a##b
#define STAND_IN_JOIN(a, b) STAND_IN_JOIN_TOKENS(a, b)
#define STAND_IN_TEST_CASE(body, ...)                                                                                  \
  static void body();                                                                                                  \
  [[maybe_unused]] static const bool STAND_IN_JOIN(body, _added) = Catch::stand_in::add_test_case(&body, __VA_ARGS__); \
  static void body()
#define TEST_CASE(...) STAND_IN_TEST_CASE(STAND_IN_JOIN(test_case_of_line_, __LINE__), __VA_ARGS__)
#define SECTION(name) if (Catch::stand_in::enter_section(name))
#define CHECK(...) Catch::stand_in::check(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__)
#define REQUIRE(...)                                                                                                   \
  do {                                                                                                                 \
    if (!(__VA_ARGS__)) {                                                                                              \
      Catch::stand_in::leave_failed(#__VA_ARGS__);                                                                     \
    }                                                                                                                  \
  } while (false)
#ifdef CATCH_CONFIG_PREFIX_ALL
#define CATCH_FAIL_CHECK(text) Catch::stand_in::check(false, text)
#define CATCH_FAIL(text) Catch::stand_in::leave_failed(text)
#define CATCH_SKIP(text) Catch::stand_in::leave_skipped(text)
#else
#define FAIL_CHECK(text) Catch::stand_in::check(false, text)
#define FAIL(text) Catch::stand_in::leave_failed(text)
#define SKIP(text) Catch::stand_in::leave_skipped(text)
#endif
#define CATCH_REGISTER_LISTENER(listener)                                                                              \
  [[maybe_unused]] static const bool listener_is_added =                                                               \
      Catch::stand_in::add_listener([](const Catch::IConfig* config) -> Catch::EventListenerBase* {                    \
        return new listener{config}; /* NOLINT: lives until the process ends */                                        \
      });
// NOLINTEND(cppcoreguidelines-macro-usage)
