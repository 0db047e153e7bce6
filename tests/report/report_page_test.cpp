// SPDX-License-Identifier: BSD-3-Clause
#include "report/report_page.hpp"
#include "report/run_summary.hpp"
#include "report/test_results.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

#include <string>

namespace gputest::report {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

/// Two tests one after the other on half of a device each, the second after waiting for the first.
RunLog run_of_two() {
  RunLog run;
  run.begun = 1000;
  run.ended = 1010;
  run.jobs = 2;
  run.devices = {{"GPU-1", "H200", 1000}};
  for (int i = 0; i < 2; ++i) {
    const double begun = 1001 + 4 * i;
    LoggedProcess process;
    process.entry = i == 0 ? "join" : "sort";
    process.pid = 7 + i;
    process.devices = {"GPU-1"};
    process.asked = process.begun = 1000.5;
    process.ended = begun + 4;
    process.open_ended = false;
    process.exit = 0;
    run.processes.push_back(process);
    LoggedLease lease;
    lease.entry = process.entry;
    lease.test = i == 0 ? "Join.big" : "";
    lease.pid = process.pid;
    lease.bytes = 500;
    lease.devices = {"GPU-1"};
    lease.asked = 1001;
    lease.begun = begun;
    lease.ended = begun + 4;
    lease.evidence = "exact";
    lease.uses = {{"GPU-1", 250, 0}};
    run.leases.push_back(lease);
  }
  run.tests = {{"join", "Join.big", "passed", 4, "", 1005, 0, ""}};
  run.waits = {{"sort", "", 8, "500 B", 1002, 4, {"join: Join.big"}, false}};
  return run;
}

json data_of(const std::string& page) {
  const std::string begin = R"(id="data">)";
  const auto from = page.find(begin) + begin.size();
  return json::parse(page.substr(from, page.find("</script>", from) - from));
}

TEST(RunSummaries, add_up) {
  const auto sums = summarise(run_of_two());
  EXPECT_EQ(sums.tests, 2U); // a case, and an entry without any
  EXPECT_EQ(sums.passed, 2U);
  EXPECT_DOUBLE_EQ(sums.wall, 10);
  EXPECT_DOUBLE_EQ(sums.waited, 4);
  EXPECT_DOUBLE_EQ(sums.leased, 0.4);
  EXPECT_DOUBLE_EQ(sums.used, 0.2);
}

TEST(RunSummaries, are_shares_of_all_devices) {
  auto run = run_of_two();
  run.devices.push_back(run.devices.front());
  run.devices.back().uuid = "GPU-2";
  EXPECT_DOUBLE_EQ(summarise(run).leased, 0.2);
  EXPECT_DOUBLE_EQ(summarise(run).used, 0.1);
}

TEST(WaitCauses, share_a_wait) {
  RunLog run;
  LoggedWait wait;
  wait.waited = 6;
  wait.blockers = {"a", "b"};
  wait.external = true;
  run.waits = {wait};
  const auto causes = causes_of_waits(run);
  ASSERT_EQ(causes.size(), 3U);
  for (const auto& cause : causes) {
    EXPECT_DOUBLE_EQ(cause.seconds, 2) << cause.name;
    EXPECT_EQ(cause.waits, 1U);
  }
}

TEST(RunSummaries, count_an_entry_without_cases_by_its_exit_code_and_one_without_an_end_as_unknown) {
  auto run = run_of_two();
  run.processes[1].exit = 77;
  EXPECT_EQ(summarise(run).skipped, 1U);
  run.processes[1].exit = 3;
  EXPECT_EQ(summarise(run).failed, 1U);
  run.processes[1].exit.reset();
  EXPECT_EQ(summarise(run).unknown, 1U);
}

TEST(RunSummaries, count_an_entry_that_fails_after_its_tests_have_passed) {
  auto run = run_of_two();
  run.tests[0].pid = 7;
  run.processes[0].exit = 1;
  EXPECT_EQ(summarise(run).failed, 1U);
  EXPECT_EQ(results_of(run).at(1).name, "join, after its tests");
  run.tests[0].result = "failed";
  EXPECT_EQ(summarise(run).failed, 1U) << "it is the test's failure";
}

TEST(RunSummaries, leave_waits_out_of_the_time_of_a_test) {
  auto run = run_of_two();
  run.tests[0].pid = 7;
  run.tests[0].seconds = 6; // up to 1005
  run.leases[0].asked = 999.5;
  EXPECT_DOUBLE_EQ(results_of(run).at(0).seconds, 4.5) << "it waited from 999.5 to 1001";
  EXPECT_DOUBLE_EQ(results_of(run).at(1).seconds, 4.5) << "of 8.5 s, it waited 4";
}

TEST(RunSummaries, say_that_memory_kept_ctest_from_starting_tests) {
  auto run = run_of_two();
  run.jobs = 16;
  run.processes[1].asked = run.processes[1].begun = 1005;
  for (auto& lease : run.leases) {
    lease.bytes = 900;
  }
  const std::string memory = "ctest started tests only when their memory was there: 0.";
  EXPECT_THAT(what_held_it_back(run), Not(testing::Contains(HasSubstr(memory))));
  run.scheduled = true;
  EXPECT_THAT(what_held_it_back(run), testing::Contains(HasSubstr(memory)));
  for (auto& lease : run.leases) {
    lease.bytes = 100;
  }
  EXPECT_THAT(what_held_it_back(run), Not(testing::Contains(HasSubstr(memory)))) << "most of it was free";
}

TEST(RunSummaries, begin_with_what_took_the_largest_share_of_the_run) {
  EXPECT_THAT(what_held_it_back(run_of_two()),
              ElementsAre("The longest test, sort, took 4.5 s of 10.0 s.", HasSubstr("Tests waited for 4.0 s"),
                          "Of ctest's 2 jobs 1.3 were busy with GPU tests on average."));
}

TEST(RunSummaries, name_who_made_others_wait) {
  const auto causes = causes_of_waits(run_of_two());
  ASSERT_THAT(causes, SizeIs(1));
  EXPECT_EQ(causes[0].name, "join: Join.big");
  EXPECT_DOUBLE_EQ(causes[0].seconds, 4);
  EXPECT_THAT(what_held_it_back(run_of_two()),
              testing::Contains("Tests waited for 4.0 s in all. The most because of join: Join.big: 4.0 s."));
}

TEST(RunSummaries, group_skips_by_their_reason) {
  RunLog run;
  run.skips = {{"a", "S.x", "a: S.x is large, and excluded", "run"}, {"b", "", "b is large, and excluded", "run"}};
  run.tests = {{"a", "S.x", "skipped", 0, "a: S.x is large, and excluded", 1, 0, ""},
               {"a", "S.y", "skipped", 0, "later", 1, 0, ""}};
  const auto groups = skips_of(run);
  ASSERT_THAT(groups, SizeIs(2));
  EXPECT_EQ(groups[0].reason, "… is large, and excluded");
  EXPECT_THAT(groups[0].tests, ElementsAre("a: S.x", "b"));
  EXPECT_THAT(groups[1].tests, ElementsAre("a: S.y"));
}

TEST(RunSummaries, group_skips_whose_reasons_differ_only_in_the_command_for_their_entry) {
  RunLog run;
  run.skips = {{"p.S.x", "S.x", R"(p.S.x: S.x is excluded. Run it alone: ctest -j1 -R '^p\.S\.x$')", "run"},
               {"Whole.checks", "Whole.checks",
                R"(Whole.checks is excluded. Run it alone: ctest -j1 -R '^Whole\.checks$')", "run"}};
  const auto groups = skips_of(run);
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_EQ(groups[0].reason, "… is excluded. Run it alone: ctest -j1 -R '^…$'");
  EXPECT_THAT(groups[0].tests, ElementsAre("p.S.x: S.x", "Whole.checks"));
}

TEST(ReportPages, hold_the_run_as_data) {
  const auto run = run_of_two();
  const auto data = data_of(report_page(run, {&run}));
  EXPECT_EQ(data.at("sums").at("tests"), 2);
  ASSERT_THAT(data.at("leases"), SizeIs(2));
  EXPECT_EQ(data.at("leases")[0].at("n"), "join: Join.big");
  EXPECT_DOUBLE_EQ(data.at("leases")[1].at("w"), 4);
  EXPECT_EQ(data.at("leases")[1].at("p"), 250);
  ASSERT_THAT(data.at("history"), SizeIs(1));
  EXPECT_TRUE(data.at("history")[0].at("now").get<bool>());
}

TEST(ReportPages, show_what_a_lease_of_two_devices_used_of_each) {
  auto run = run_of_two();
  run.devices.push_back({"GPU-2", "H200", 1000});
  run.leases[0].devices = {"GPU-1", "GPU-2"};
  run.leases[0].uses = {{"GPU-1", 250, 0}, {"GPU-2", 100, 0}};
  const auto leases = data_of(report_page(run, {&run})).at("leases");
  ASSERT_THAT(leases, SizeIs(3));
  EXPECT_EQ(leases[0].at("p"), 250);
  EXPECT_EQ(leases[1].at("p"), 100);
}

TEST(ReportPages, let_no_name_break_out_of_the_data) {
  auto run = run_of_two();
  const std::string name = "Sort</script><script>alert(1)</script><!--&amp;\"'\xff";
  run.leases[0].test = name;
  run.tests[0].test = name;
  run.host = name;
  const auto page = report_page(run, {&run});
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(page, Not(HasSubstr("<!--")));
  EXPECT_EQ(data_of(page).at("leases")[0].at("n"), "join: Sort</script><script>alert(1)</script><!--&amp;\"'\uFFFD");
}

TEST(ReportPages, ask_nothing_of_a_network) {
  const auto run = run_of_two();
  const auto page = report_page(run, {&run});
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  for (const auto* const word : {"http:", "https:", "src=", "href=", "@import", "url("}) {
    EXPECT_THAT(page, Not(HasSubstr(word)));
  }
}

TEST(Traces, show_each_test_in_a_slot_and_the_memory_as_a_counter) {
  const auto trace = json::parse(trace_events(run_of_two()));
  std::set<int> slots;
  double most = 0;
  bool waits = false;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("ph") == "X") {
      slots.insert(event.at("tid").get<int>());
      waits = waits || event.at("cat") == "wait";
      EXPECT_GE(event.at("dur"), 0);
    } else if (event.at("ph") == "C") {
      most = std::max(most, event.at("args").at("leased").get<double>());
    }
  }
  EXPECT_THAT(slots, ElementsAre(1, 2));
  EXPECT_TRUE(waits);
  EXPECT_NEAR(most * 1024 * 1024, 500, 501); // where one ends and the next begins, both may count
  EXPECT_GT(most, 0);
}

} // namespace
} // namespace gputest::report
