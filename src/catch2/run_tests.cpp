// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/catch2/run_tests.hpp>

#if !__has_include(<catch2/catch_version_macros.hpp>)
#error "gputest::catch2 needs Catch2 3.3 or newer: find_package(Catch2 3), FetchContent or add_subdirectory() brings it"
#endif
#include <catch2/catch_version_macros.hpp>
#if CATCH_VERSION_MAJOR < 3 || (CATCH_VERSION_MAJOR == 3 && CATCH_VERSION_MINOR < 3)
#error "gputest::catch2 needs Catch2 3.3 or newer: earlier ones cannot skip a test case with a reason"
#endif

#include "tags.hpp"

#include <gputest/error.hpp>
#include <gputest/outcome.hpp>
#include <gputest/session.hpp>
#include <gputest/test_list.hpp>
#include <gputest/test_run.hpp>
#include <gputest/test_sequence.hpp>

#include <catch2/catch_session.hpp>
#include <catch2/catch_test_case_info.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/catch_test_spec.hpp>
#include <catch2/interfaces/catch_interfaces_config.hpp>
#include <catch2/interfaces/catch_interfaces_testcase.hpp>
#include <catch2/internal/catch_test_case_registry_impl.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gputest {

namespace {

constexpr const char* what_main_returns = "gputest::run_catch2_tests(argc, argv)";

std::vector<std::string> tags_of(const Catch::TestCaseInfo& test) {
  std::vector<std::string> tags;
  for (const auto& tag : test.tags) {
    tags.emplace_back(tag.original.data(), tag.original.size());
  }
  return tags;
}

/// Whether a test case uses no GPU: it says so, or it says nothing and its entry says so.
bool uses_no_gpu(const Catch::TestCaseInfo& test) {
  try {
    const auto needs = catch2::needs_of(tags_of(test));
    return needs.no_gpu || (detail::TestRun::of_process().no_gpu() && !needs.says_gpu());
  } catch (const InvalidSetting&) { // that test case will fail
    return true;
  }
}

/// Catch2 compares names without regard to case.
std::string lower_case(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return name;
}

/// What selects the test case of this name on Catch2's command line.
std::string spec_of(const std::string& name) {
  std::string spec;
  for (const char c : name) {
    if (std::string_view{"\\,[]\""}.find(c) != std::string_view::npos || (c == '~' && spec.empty())) {
      spec += '\\';
    }
    spec += c;
  }
  return spec;
}

// The stand-in of the tests does not say where a test case is.
template <class Info>
auto note_place(ListedTest& listed, const Info& info, int /*catch2*/) -> decltype(info.lineInfo.line, void()) {
  listed.file = info.lineInfo.file;
  listed.line = static_cast<int>(info.lineInfo.line);
}
template <class Info>
void note_place(ListedTest& /*listed*/, const Info& /*info*/, long /*stand_in*/) {}

/// Writes the list for gpu_discover_tests(). Test cases that Catch2 cannot tell apart become one entry.
void list_tests(const std::vector<Catch::TestCaseHandle>& selected, const std::string& file) {
  const auto entry = entry_from_environment().request;
  std::map<std::string, std::string> specs; // of the first test case with such a name
  std::vector<ListedTest> tests;
  for (const auto& test : selected) {
    const auto& info = test.getTestCaseInfo();
    ListedTest listed;
    listed.filter = specs.try_emplace(lower_case(info.name), spec_of(info.name)).first->second;
    listed.test = info.name;
    note_place(listed, info, 0);
    if (!uses_no_gpu(info)) { // nor does one with wrong tags, which will fail
      listed.request = resolve(catch2::needs_of(tags_of(info)), {}, std::nullopt, entry);
    }
    tests.push_back(std::move(listed));
  }
  write_test_list(file, tests);
}

/// What a test case needs, by its tags and its entry.
detail::TestNeeds needs_of(const Catch::TestCaseInfo& test, const Request& entry) {
  using Use = detail::TestNeeds::Use;
  try {
    const auto needs = catch2::needs_of(tags_of(test));
    return {uses_no_gpu(test) ? Use::none : Use::lease, resolve(needs, {}, std::nullopt, entry), {}};
  } catch (const Error& error) {
    return {Use::none, {}, test.name + ": " + error.what()};
  }
}

/// What Catch2 runs of this executable, and what became of it.
class Adapter {
public:
  static Adapter& instance() {
    static Adapter adapter;
    return adapter;
  }

  /// Chooses devices and enters the ledger for these test cases. What went wrong fails each of them.
  void begin(const std::vector<Catch::TestCaseHandle>& selected) {
    detail::TestRun::of_process().begin(what_main_returns, detail::Notation::tags);
    std::vector<const Catch::TestCaseInfo*> with_gpu;
    for (const auto& test : selected) {
      if (!uses_no_gpu(test.getTestCaseInfo())) {
        with_gpu.push_back(&test.getTestCaseInfo());
      }
    }
    sequence_.open(!with_gpu.empty(), "the tags say no_gpu and what the test case needs of a GPU",
                   [&](const Request& entry) {
                     Plan plan;
                     for (const auto* const test : with_gpu) {
                       plan.requests.push_back(needs_of(*test, entry).request);
                     }
                     return plan;
                   });
  }

  /// Leases for a test case, once for all its sections.
  const Outcome& begin_test(const Catch::TestCaseInfo& test) {
    if (!outcome_) {
      begun_at_ = std::chrono::steady_clock::now();
      outcome_ = sequence_.begin(test.name, needs_of(test, sequence_.entry_request()));
    }
    return *outcome_;
  }

  [[nodiscard]] bool test_has_begun() const { return outcome_.has_value(); }

  std::vector<std::string> problems(const Catch::TestCaseInfo& test) { return sequence_.examine(test.name).problems; }

  /// Catch2 has closed the test case: what its lease's end shows fails the run.
  void end_test(const Catch::TestCaseInfo& test, const char* result) {
    for (const auto& problem : sequence_.end(test.name).problems) {
      detail::TestRun::of_process().say("failed: " + problem);
      failed_at_end_ = true;
    }
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begun_at_;
    detail::TestRun::TestEnd end;
    end.name = test.name;
    end.result = result;
    end.seconds = time.count();
    sequence_.ended(end);
    outcome_.reset();
  }

  /// All test cases have ended, of which there were so many; so many were skipped, and so many failed.
  void end(std::uint64_t total, std::uint64_t skipped, std::uint64_t failed) {
    auto& run = detail::TestRun::of_process();
    end_ = sequence_.finish(total, total - skipped - failed, failed > 0 || has_refused());
    if (*end_ == detail::TestRun::End::all_skipped && total != skipped) {
      run.say(std::to_string(skipped) + " of " + std::to_string(total) + " test cases skipped");
    }
    run.end(*end_);
  }
  /// nullopt: no run has ended, as for --list-tests and a wrong command line.
  [[nodiscard]] std::optional<detail::TestRun::End> how_it_ended() const { return end_; }

  /// Whether gputest has failed a test case, which could not run, or has left memory allocated. Tags such as
  /// `[!mayfail]` do not expect that.
  [[nodiscard]] bool has_refused() const { return sequence_.has_refused() || failed_at_end_; }

private:
  detail::TestSequence sequence_;
  std::chrono::steady_clock::time_point begun_at_;
  std::optional<Outcome> outcome_; ///< of the running test case
  bool failed_at_end_ = false;     ///< a test case whose end Catch2 had reported
  std::optional<detail::TestRun::End> end_;
};

// Catch2 3.7 and newer prepare a test case, and tear it down.
template <class Handle>
auto prepare(const Handle& handle, int /*newer*/) -> decltype(handle.prepareTestCase()) {
  handle.prepareTestCase();
}
template <class Handle>
void prepare(const Handle& /*handle*/, long /*older*/) {}
template <class Handle>
auto tear_down(const Handle& handle, int /*newer*/) -> decltype(handle.tearDownTestCase()) {
  handle.tearDownTestCase();
}
template <class Handle>
void tear_down(const Handle& /*handle*/, long /*older*/) {}

/// Runs a test case with its lease. A listener cannot do that alone: what it throws to skip a test case ends the run.
class LeasedTestCase final : public Catch::ITestInvoker {
public:
  explicit LeasedTestCase(const Catch::TestCaseHandle& original) : original_{original} {}

  // NOLINTBEGIN(modernize-use-override): older versions of Catch2 have only the third.
  void prepareTestCase() {
    if (begin().kind == Outcome::Kind::granted) {
      prepare(original_, 0);
    }
  }

  void tearDownTestCase() {
    if (begin().kind == Outcome::Kind::granted) {
      tear_down(original_, 0);
    }
  }

  void invoke() const {
    const auto& outcome = begin();
    if (outcome.kind == Outcome::Kind::skip) {
      SKIP(outcome.reason);
    }
    if (outcome.kind == Outcome::Kind::fail) {
      FAIL(outcome.reason);
    }
    try {
      original_.invoke();
    } catch (...) {
      report();
      throw;
    }
    report();
  }
  // NOLINTEND(modernize-use-override)

private:
  [[nodiscard]] const Outcome& begin() const { return Adapter::instance().begin_test(original_.getTestCaseInfo()); }

  void report() const {
    for (const auto& problem : Adapter::instance().problems(original_.getTestCaseInfo())) {
      FAIL_CHECK(problem);
    }
  }

  Catch::TestCaseHandle original_;
};

class Listener : public Catch::EventListenerBase {
public:
  using EventListenerBase::EventListenerBase;

  void testRunStarting(const Catch::TestRunInfo& /*run*/) override {
    // Catch2 keeps the sorted list, and takes what it runs from it. It shows the list as a constant, and made none.
    auto& all = const_cast<std::vector<Catch::TestCaseHandle>&>(Catch::getAllTestCasesSorted(*m_config)); // NOLINT
    const auto& spec = m_config->testSpec();
    std::vector<Catch::TestCaseHandle> selected;
    if (spec.hasFilters()) {
      selected = Catch::filterTests(all, spec, *m_config);
    } else {
      for (const auto& test : all) {
        if (!test.getTestCaseInfo().isHidden()) {
          selected.push_back(test);
        }
      }
    }
    if (const auto file = test_list_file()) {
      try {
        list_tests(selected, *file);
      } catch (const Error& error) {
        std::cerr << "gputest: " << error.what() << '\n';
        std::exit(EXIT_FAILURE); // NOLINT(concurrency-mt-unsafe)
      }
      std::exit(EXIT_SUCCESS); // NOLINT(concurrency-mt-unsafe): nothing runs
    }
    Adapter::instance().begin(selected);
    static std::vector<std::unique_ptr<LeasedTestCase>> leased;
    for (auto& test : all) {
      leased.push_back(std::make_unique<LeasedTestCase>(test));
      test = Catch::TestCaseHandle{const_cast<Catch::TestCaseInfo*>(&test.getTestCaseInfo()), // NOLINT: as above
                                   leased.back().get()};
    }
  }

  void assertionEnded(const Catch::AssertionStats& stats) override {
    if (!stats.assertionResult.isOk()) {
      detail::TestRun::of_process().check_failed();
    }
  }

  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    auto& current = Adapter::instance();
    if (!current.test_has_begun() && !stats.aborting) {
      std::cerr << "gputest: the test case '" << stats.testInfo->name << "' ran without GPU memory of its own: this "
                << "version of Catch2 takes its test cases from elsewhere than gputest knows\n";
      std::exit(EXIT_FAILURE); // NOLINT(concurrency-mt-unsafe)
    }
    const auto& cases = stats.totals.testCases;
    current.end_test(*stats.testInfo, cases.failed > 0 ? "failed" : cases.skipped > 0 ? "skipped" : "passed");
  }

  void testRunEnded(const Catch::TestRunStats& stats) override {
    const auto& cases = stats.totals.testCases;
    Adapter::instance().end(cases.total(), cases.skipped, cases.failed);
  }
};

CATCH_REGISTER_LISTENER(Listener)

} // namespace

int run_catch2_tests(int argc, char** argv) {
  if (test_list_file()) {
    if (detail::TestRun::of_process().in_entry()) {
      detail::TestRun::of_process().say("failed: GPUTEST_LIST_FILE is set, with which tests are only listed. Unset it");
      return EXIT_FAILURE;
    }
    // With --list-tests an executable without this function lists its tests, too; Catch2 would not begin a run.
    argc = static_cast<int>(
        std::remove_if(argv, argv + argc, [](const char* word) { return std::string_view{word} == "--list-tests"; }) -
        argv);
  }
  const int result = Catch::Session().run(argc, argv);
  const auto how = Adapter::instance().how_it_ended();
  if (how == detail::TestRun::End::all_skipped) {
    return detail::TestRun::of_process().exit_code(skipped_exit_code);
  }
  if (result == 0 && Adapter::instance().has_refused()) {
    return EXIT_FAILURE;
  }
  auto& run = detail::TestRun::of_process();
  if (how.value_or(detail::TestRun::End::nothing_ran) == detail::TestRun::End::nothing_ran && run.in_entry()) {
    run.say("failed: no test case ran"); // --list-tests, or --allow-running-no-tests
    if (!how) {
      run.begin(what_main_returns, detail::Notation::tags);
      run.end(detail::TestRun::End::nothing_ran); // no failure that WILL_FAIL expects
    }
    return result == 0 || result == skipped_exit_code ? EXIT_FAILURE : result;
  }
  // Up to 3.6 the exit code is the number of failed assertions, and so many are no skip. 4 is Catch2's own code of a
  // skip, which catch_discover_tests() tells CTest.
  constexpr int all_skipped = 4;
  return result == skipped_exit_code || result == all_skipped ? EXIT_FAILURE : run.exit_code(result);
}

} // namespace gputest
