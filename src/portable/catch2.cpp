// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/catch2/run_tests.hpp>

#include "catch2/listing.hpp"

#include <gputest/outcome.hpp>
#include <gputest/test_list.hpp>
#include <gputest/test_run.hpp>

#include <catch2/catch_session.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>

#include <cstdlib>

namespace gputest {

namespace {

/// Whether the last run had test cases, and skipped all of them.
bool& all_are_skipped() {
  static bool skipped = false;
  return skipped;
}

class Listener : public Catch::EventListenerBase {
public:
  using EventListenerBase::EventListenerBase;

  void testRunStarting(const Catch::TestRunInfo& /*run*/) override {
    catch2::list_if_asked(catch2::selected_of(catch2::all_test_cases(*m_config), *m_config));
  }

  void testRunEnded(const Catch::TestRunStats& stats) override {
    const auto& cases = stats.totals.testCases;
    all_are_skipped() = cases.total() > 0 && cases.skipped == cases.total();
  }
};

CATCH_REGISTER_LISTENER(Listener)

} // namespace

int run_catch2_tests(int argc, char** argv) {
  if (test_list_file()) {
    argc = catch2::without_list_option(argc, argv);
  }
  const int result = Catch::Session().run(argc, argv);
  if (all_are_skipped()) {
    return detail::TestRun::of_process().exit_code(skipped_exit_code);
  }
  // Up to 3.6 the number of failed assertions.
  return result == skipped_exit_code || result == unwatched_skip_code ? EXIT_FAILURE : result;
}

} // namespace gputest
