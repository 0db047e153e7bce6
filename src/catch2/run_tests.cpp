// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/catch2/run_tests.hpp>

#include "listing.hpp"
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
#include <catch2/interfaces/catch_interfaces_config.hpp>
#include <catch2/interfaces/catch_interfaces_testcase.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#ifdef CATCH_CONFIG_PREFIX_ALL
// NOLINTBEGIN(cppcoreguidelines-macro-usage): Catch2's macros under the names that they have without it
#define SKIP CATCH_SKIP
#define FAIL CATCH_FAIL
#define FAIL_CHECK CATCH_FAIL_CHECK
// NOLINTEND(cppcoreguidelines-macro-usage)
#endif

namespace gputest {

namespace {

using catch2::all_test_cases;
using catch2::list_if_asked;
using catch2::selected_of;
using catch2::tags_of;
using catch2::uses_no_gpu;
using catch2::without_list_option;

constexpr const char* what_main_returns = "gputest::run_catch2_tests(argc, argv)";

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
      may_fail_ = test.okToFail();
      begun_at_ = std::chrono::steady_clock::now();
      outcome_ = sequence_.begin(test.name, needs_of(test, sequence_.entry_request()));
    }
    return *outcome_;
  }

  /// Of the test case that runs. `[!mayfail]` and `[!shouldfail]` expect that, so it forbids no further attempt.
  void check_failed() const {
    if (!may_fail_) {
      detail::TestRun::of_process().check_failed();
    }
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

  /// All test cases have ended, of which there were so many; so many were skipped, and so many failed. If no test case
  /// was selected, that may be as `--allow-running-no-tests` says.
  void end(std::uint64_t total, std::uint64_t skipped, std::uint64_t failed, bool allows_none) {
    auto& run = detail::TestRun::of_process();
    end_ = sequence_.finish(total, total - skipped - failed, failed > 0 || has_failed_one());
    if (*end_ == detail::TestRun::End::nothing_ran && allows_none) {
      end_ = detail::TestRun::End::passed;
    }
    if (*end_ == detail::TestRun::End::all_skipped && total != skipped) {
      run.say(std::to_string(skipped) + " of " + std::to_string(total) + " test cases skipped");
    }
    run.end(*end_);
  }
  /// nullopt: no run has ended, as for --list-tests and a wrong command line.
  [[nodiscard]] std::optional<detail::TestRun::End> how_it_ended() const { return end_; }

  /// Whether gputest has failed a test case, which could not run, or has left memory allocated. Tags such as
  /// `[!mayfail]` do not expect that.
  [[nodiscard]] bool has_failed_one() const { return sequence_.has_failed_one() || failed_at_end_; }

private:
  detail::TestSequence sequence_;
  std::chrono::steady_clock::time_point begun_at_;
  std::optional<Outcome> outcome_; ///< of the running test case
  bool may_fail_ = false;
  bool failed_at_end_ = false; ///< a test case whose end Catch2 had reported
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
      SKIP(detail::TestRun::of_process().skipped(outcome.reason));
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
    auto& all = all_test_cases(*m_config);
    const auto selected = selected_of(all, *m_config);
    list_if_asked(selected);
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
      Adapter::instance().check_failed();
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
    Adapter::instance().end(cases.total(), cases.skipped, cases.failed, m_config->zeroTestsCountAsSuccess());
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
    argc = without_list_option(argc, argv);
  }
  // Catch2's own code of a skip, which catch_discover_tests() tells CTest.
  constexpr int all_skipped = 4;
  const int result = Catch::Session().run(argc, argv);
  const auto how = Adapter::instance().how_it_ended();
  if (how == detail::TestRun::End::all_skipped && (result == 0 || result == all_skipped)) {
    auto& run = detail::TestRun::of_process();
    return run.code_of_main(run.exit_code(skipped_exit_code)); // what a script does after it is not skipped
  }
  if (result == 0 && Adapter::instance().has_failed_one()) {
    return EXIT_FAILURE;
  }
  auto& run = detail::TestRun::of_process();
  if (!how && result == 0 && run.in_entry()) { // --list-tests, --help
    run.begin(what_main_returns, detail::Notation::tags);
    run.end(detail::TestRun::End::listed);
    return run.exit_code(result);
  }
  if (how.value_or(detail::TestRun::End::nothing_ran) == detail::TestRun::End::nothing_ran && run.in_entry()) {
    run.say("failed: no test case ran"); // none has the name, or a wrong command line
    if (!how) {
      run.begin(what_main_returns, detail::Notation::tags);
      run.end(detail::TestRun::End::nothing_ran); // no failure that WILL_FAIL expects
    }
    return result == 0 || result == skipped_exit_code ? EXIT_FAILURE : result;
  }
  // Up to 3.6 the exit code is the number of failed assertions, and so many are no skip.
  return result == skipped_exit_code || result == all_skipped ? EXIT_FAILURE : run.exit_code(result);
}

} // namespace gputest
