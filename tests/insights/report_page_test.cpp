// SPDX-License-Identifier: BSD-3-Clause
#include "insights/report_page.hpp"
#include "insights/run_summary.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <vector>

namespace gputest::insights {
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
    lease.peaks = {{"GPU-1", 250}};
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

TEST(RunSummaries, know_only_the_least_time_of_a_run_whose_last_line_is_of_a_killed_process) {
  auto run = run_of_two();
  EXPECT_FALSE(summarise(run).open_ended);
  run.processes[0].open_ended = true;
  run.processes[0].ended = run.ended - 1;
  EXPECT_FALSE(summarise(run).open_ended) << "others went on";
  run.processes[0].ended = run.ended;
  EXPECT_TRUE(summarise(run).open_ended);
  EXPECT_EQ(data_of(report_page(run, {run})).at("history")[0].at("open"), true);
}

TEST(RunSummaries, add_up) {
  const auto sums = summarise(run_of_two());
  EXPECT_EQ(sums.tests, 2U);
  EXPECT_EQ(sums.passed, 2U);
  EXPECT_DOUBLE_EQ(sums.wall, 10);
  EXPECT_DOUBLE_EQ(sums.waited, 4);
  EXPECT_DOUBLE_EQ(sums.leased, 0.4);
  EXPECT_DOUBLE_EQ(sums.used, 0.2);
}

TEST(WaitCauses, begin_with_what_made_others_wait_longest) {
  RunLog run;
  LoggedWait wait;
  wait.waited = 2;
  for (const auto* const blocker : {"a", "b", "b"}) {
    wait.blockers = {blocker};
    run.waits.push_back(wait);
  }
  wait.blockers = {};
  run.waits.push_back(wait);
  const auto causes = causes_of_waits(run);
  ASSERT_THAT(causes, SizeIs(2));
  EXPECT_EQ(causes[0].name, "b");
  EXPECT_DOUBLE_EQ(causes[0].seconds, 4);
  EXPECT_EQ(causes[0].waits, 2U);
  EXPECT_EQ(causes[1].name, "a");
  wait.blockers = {"a", "b"};
  wait.external = true;
  run.waits = {wait};
  for (const auto& cause : causes_of_waits(run)) {
    EXPECT_DOUBLE_EQ(cause.seconds, 2.0 / 3) << cause.name;
  }
}

TEST(RunSummaries, have_no_share_of_the_memory_without_a_device_or_a_measurement) {
  auto run = run_of_two();
  for (auto& lease : run.leases) {
    lease.peaks.clear();
  }
  EXPECT_DOUBLE_EQ(summarise(run).leased, 0.4);
  EXPECT_DOUBLE_EQ(summarise(run).used, -1);
  run.devices.clear();
  EXPECT_DOUBLE_EQ(summarise(run).leased, -1);
}

TEST(RunSummaries, count_a_lease_on_each_of_its_devices_and_all_waits) {
  auto run = run_of_two();
  run.leases[0].devices.emplace_back("GPU-2");
  run.leases[0].peaks["GPU-2"] = 500;
  run.processes[0].begun = 1000.75;
  run.processes[1].begun = 1000.625;
  run.leases[1].ended = run.leases[1].begun - 1;                          // a clock that was set
  run.waits.push_back({"fft", "", 9, "1 GiB", 1002, 3, {}, false, true}); // in vain: nothing else has it
  const auto sums = summarise(run);
  EXPECT_DOUBLE_EQ(sums.waited, 7.375);
  EXPECT_DOUBLE_EQ(sums.leased, 0.4);
  EXPECT_DOUBLE_EQ(sums.used, 0.3);
}

/// A run of 1000 s with one process on a device of 1000 B, which it has leased all of the time.
RunLog run_of_one() {
  RunLog run;
  run.begun = 1000;
  run.ended = 2000;
  run.jobs = 1;
  run.devices = {{"GPU-1", "H200", 1000, 0}};
  LoggedProcess process;
  process.entry = "e";
  process.pid = 1;
  process.devices = {"GPU-1"};
  process.asked = process.begun = run.begun;
  process.ended = run.ended;
  process.open_ended = false;
  process.exit = 0;
  run.processes = {process};
  LoggedLease lease;
  lease.entry = "e";
  lease.pid = 1;
  lease.bytes = 1000;
  lease.devices = {"GPU-1"};
  lease.asked = lease.begun = run.begun;
  lease.ended = run.ended;
  lease.peaks = {{"GPU-1", 900}};
  run.leases = {lease};
  for (int i = 0; i < 4; ++i) {
    run.tests.push_back({"e", "S." + std::to_string(i), "passed", 200, "", 1200.0 + 200 * i, 1, ""});
  }
  return run;
}

TEST(RunSummaries, say_what_stands_out) {
  struct Case {
    const char* what;
    std::function<void(RunLog&)> change;
    std::vector<std::string> texts;
  };
  const std::vector<std::string> nothing{"Nothing stands out."};
  const std::vector<Case> cases{
      {"all is well", [](RunLog&) {}, nothing},
      {"a run of no time", [](RunLog& run) { run.ended = run.begun; }, {}},
      {"waits of a twentieth", [](RunLog& run) { run.leases[0].asked = 950; }, nothing},
      {"waits of more", [](RunLog& run) { run.leases[0].asked = 949; }, {"Tests waited for 51.0 s in all."}},
      {"who made them wait",
       [](RunLog& run) {
         run.leases[0].asked = 949;
         LoggedWait wait;
         wait.blockers = {"fft"};
         wait.waited = 100;
         run.waits = {LoggedWait{}, wait};
       },
       {"Tests waited for 51.0 s in all. The largest part was for fft: 2 min."}},
      {"idle jobs",
       [](RunLog& run) { run.processes[0].ended = run.leases[0].ended = 1799; },
       {"GPU tests kept ctest's jobs (-j1) busy for 80 % of the time, and 80 % of the memory was leased. A test that "
        "ctest itself held back while others of its size ran does not count as waiting."}},
      {"a process under a lease is no job",
       [](RunLog& run) {
         run.processes[0].ended = run.leases[0].ended = 1799;
         run.processes.push_back(run.processes[0]);
         run.processes[1].under_a_lease = true;
       },
       {"GPU tests kept ctest's jobs (-j1) busy for 80 % of the time, and 80 % of the memory was leased. A test that "
        "ctest itself held back while others of its size ran does not count as waiting."}},
      {"nobody knows the jobs",
       [](RunLog& run) {
         run.processes.clear();
         run.jobs.reset();
       },
       nothing},
      {"a device that is leased whole",
       [](RunLog& run) { run.leases[0].whole_devices = true; },
       {"Tests that take a whole GPU held 100 % of the GPUs' time. No other test runs beside them, whatever -j is."}},
      {"devices that are leased whole for a while",
       [](RunLog& run) {
         run.devices.push_back({"GPU-2", "H200", 1000, 0});
         run.leases[0].whole_devices = true;
         run.leases[0].peaks["GPU-1"] = 1000;
       },
       {"Tests that take a whole GPU held 50 % of the GPUs' time. No other test runs beside them, whatever -j is."}},
      {"memory that is leased and not used",
       [](RunLog& run) { run.leases[0].peaks["GPU-1"] = 490; },
       {"Measured tests leased 100 % of the memory and used 49 %. \"gputest needs\" names those that ask for too "
        "much."}},
      {"nothing was measured", [](RunLog& run) { run.leases[0].peaks.clear(); }, nothing},
      {"what one of two leases used is not known",
       [](RunLog& run) {
         run.leases.push_back(run.leases[0]);
         run.leases[0].ended = run.leases[1].asked = run.leases[1].begun = 1400;
         run.leases[1].peaks.clear();
       },
       nothing},
  };
  for (const auto& [what, change, texts] : cases) {
    auto run = run_of_one();
    change(run);
    EXPECT_EQ(what_held_it_back(run), texts) << what;
  }
}

TEST(RunSummaries, begin_with_what_took_the_largest_share_of_the_run) {
  EXPECT_THAT(
      what_held_it_back(run_of_two()),
      ElementsAre(
          "The longest test, join, took 4.5 s of 10.0 s.", HasSubstr("Tests waited for 4.0 s"),
          "GPU tests kept ctest's jobs (-j2) busy for 65 % of the time, and 40 % of the memory was leased. A test that "
          "ctest itself held back while others of its size ran does not count as waiting."));
}

TEST(RunSummaries, group_skips_by_their_reason) {
  RunLog run;
  run.skips = {{"a", "S.x", "a: S.x is large, and excluded"}, {"b", "", "b is large, and excluded"}};
  run.tests = {{"a", "S.x", "skipped", 0, "a: S.x is large, and excluded", 1, 0, ""},
               {"a", "S.y", "skipped", 0, "later", 1, 0, ""}};
  const auto groups = skips_of(run);
  ASSERT_THAT(groups, SizeIs(2));
  EXPECT_EQ(groups[0].reason, "a: S.x is large, and excluded");
  EXPECT_THAT(groups[0].tests, ElementsAre("a: S.x", "b"));
  EXPECT_THAT(groups[1].tests, ElementsAre("a: S.y"));
}

TEST(RunSummaries, have_the_largest_group_of_skips_first_and_name_each_test_once) {
  RunLog run;
  run.skips = {{"e", "A.x", "a reason"}, {"e", "Z.x", "zeal"}, {"e", "Z.y", "zeal"}};
  run.tests = {{"e", "Z.x", "skipped", 0, "another reason", 1, 0, ""},
               {"e", "N.x", "skipped", 0, "", 1, 0, ""},
               {"e", "P.x", "passed", 0, "passed all the same", 1, 0, ""}};
  const auto groups = skips_of(run);
  ASSERT_THAT(groups, SizeIs(3));
  EXPECT_EQ(groups[0].reason, "zeal");
  EXPECT_THAT(groups[0].tests, ElementsAre("e: Z.x", "e: Z.y"));
  EXPECT_EQ(groups[1].reason, "a reason");
  EXPECT_EQ(groups[2].reason, "no reason given");
  EXPECT_THAT(groups[2].tests, ElementsAre("e: N.x"));
}

TEST(RunSummaries, group_skips_whose_reasons_differ_only_in_the_command_for_their_entry) {
  RunLog run;
  run.skips = {
      {"p.S.x", "S.x", R"(p.S.x: S.x is excluded. Run it alone: ctest -j1 -R '^p\.S\.x$')"},
      {"Whole.checks", "Whole.checks", R"(Whole.checks is excluded. Run it alone: ctest -j1 -R '^Whole\.checks$')"}};
  const auto groups = skips_of(run);
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_EQ(groups[0].reason, run.skips[0].reason) << "which has a command to paste";
  EXPECT_THAT(groups[0].tests, ElementsAre("p.S.x: S.x", "Whole.checks"));
}

TEST(ReportPages, hold_all_that_they_show) {
  auto run = run_of_two();
  run.host = "node";
  run.gputest = "0.1.0";
  run.folder = "/build";
  run.failed = {{"join"}};
  run.run_mode = "-j2";
  run.unreadable_lines = 3;
  run.devices.push_back({"GPU-2", "A2", 500, 0});
  run.processes[0].overhead_bytes = 50;
  run.processes[0].devices = {"GPU-2", "GPU-1"};
  run.processes[0].asked = 1000.2;
  run.processes.push_back(run.processes[0]);
  run.processes[2].devices = {"GPU-1"};
  run.processes[2].begun = 1001;
  run.processes[1].under_a_lease = true;
  run.leases[0].devices = {"GPU-0", "GPU-2"};
  run.leases[0].peaks = {{"GPU-2", 250}};
  run.leases[1].evidence = "unknown";
  run.leases[1].open_ended = true;
  run.leases[1].begun = 1005.00001;
  run.tests.push_back({"join", "Join.small", "failed", 0.5, "", 1005, 0, ""});
  run.tests.push_back({"join", "Join.odd", "skipped", 0.5, "later", 1005, 0, ""});
  run.skips = {{"fft", "", "no GPU"}};
  run.problems = {{"join", "Join.small", "leak", "1 B"}, {"sort", "", "error", "CUDA_ERROR_X"}};
  run.waits[0].external = true;
  run.waits[0].external_bytes = 300;
  LoggedProcess worker;
  worker.entry = "case";
  worker.pid = 20;
  worker.worker = true;
  worker.why_started = "for the first case";
  worker.program = "/build/matrix";
  worker.begun = worker.asked = 1002;
  worker.ended = 1008;
  run.processes.push_back(worker);
  run.tests.push_back({"case", "Case.a", "passed", 0.5, "", 1004, 20, ""});
  LoggedLease killed;
  killed.entry = "case_b";
  killed.pid = 20;
  killed.memory_class = "large";
  killed.asked = killed.begun = 1005;
  killed.ended = 1008;
  killed.open_ended = true;
  run.leases.push_back(killed);
  auto old = run_of_one();
  old.jobs.reset();
  old.tests.clear();
  const auto data = data_of(report_page(run, {run, old}));
  EXPECT_EQ(data.at("history").at(1),
            json::parse(R"({"tests":1,"passed":1,"failed":0,"skipped":0,"unknown":0,"running":0,)"
                        R"("wall":1000.0,"open":false,"waited":0.0,"leased":1.0,"used":0.9,)"
                        R"("t":1000.0,"jobs":0})"));
  EXPECT_EQ(data.at("history").at(0).at("jobs"), 2);
  const auto parts = [&](const std::vector<std::string>& keys) {
    json part;
    for (const auto& key : keys) {
      part[key] = data.at(key);
    }
    return part;
  };
  EXPECT_EQ(data.at("remark"), "");
  run.failed.reset();
  EXPECT_THAT(data_of(report_page(run, {})).at("remark").get<std::string>(), HasSubstr("not in /build/Testing"));
  EXPECT_EQ(parts({"begun", "wall", "host", "gputest", "folder", "run_mode", "unreadable"}),
            json::parse(R"({"begun":1000.0,"wall":10.0,"host":"node","gputest":"0.1.0","folder":"/build",)"
                        R"("run_mode":"-j2","unreadable":3})"));
  EXPECT_EQ(parts({"devices", "leases", "contexts", "waits"}), json::parse(R"({
    "devices": [{"uuid": "GPU-1", "name": "H200", "bytes": 1000}, {"uuid": "GPU-2", "name": "A2", "bytes": 500}],
    "leases": [
      {"d": [1], "n": "join: Join.big", "t": 1.0, "e": 5.0, "b": 500, "p": [250], "v": "exact", "o": false, "w": 0.0},
      {"d": [0], "n": "sort", "t": 5.0, "e": 9.0, "b": 500, "p": [-1], "v": "unknown", "o": true, "w": 4.0},
      {"d": [], "n": "case_b", "t": 5.0, "e": 8.0, "b": 0, "p": [], "v": "unknown", "o": true, "w": 0.0}],
    "contexts": [{"d": [1, 0], "t": 0.5, "e": 5.0, "b": 50, "w": 0.3}, {"d": [0], "t": 1.0, "e": 5.0, "b": 50, "w": 0.8},
                 {"d": [], "t": 2.0, "e": 8.0, "b": 0, "w": 0.0}],
    "waits": [{"d": [0], "n": "sort", "a": "500 B", "t": 1.0, "e": 5.0, "w": 4.0, "b": 300, "v": false,
               "c": ["join: Join.big", "programs that are not on the ledger"]}]
  })"));
  EXPECT_EQ(parts({"failed", "problems", "skips", "causes"}), json::parse(R"({
    "failed": [{"n": "join", "w": ["Join.small"], "s": 4.0}],
    "problems": [{"n": "join: Join.small", "k": "leak", "x": "1 B"},
                 {"n": "sort", "k": "error", "x": "CUDA_ERROR_X"}],
    "skips": [{"c": 1, "r": "later", "n": ["join: Join.odd"]}, {"c": 1, "r": "no GPU", "n": ["fft"]}],
    "causes": [{"n": "join: Join.big", "w": 2.0, "c": 1},
               {"n": "programs that are not on the ledger", "w": 2.0, "c": 1}]
  })"));
  EXPECT_FALSE(data.at("held_back").empty());
  EXPECT_EQ(data.at("workers"),
            json::parse(R"([{"n": "matrix", "p": 20, "b": "for the first case", "t": 2.0, "e": 8.0, "c": [
    {"n": "case", "t": 3.5, "e": 4.0, "r": "passed"}, {"n": "case_b", "t": 5.0, "e": 8.0, "r": "unknown"}]}])"));
}

TEST(ReportPages, have_each_entry_and_each_test_of_an_entry_with_several) {
  auto run = run_of_two();
  run.leases[0].memory_class = "medium";
  run.tests.push_back({"join", "Join.odd", "skipped", 0.25, "later", 1005, 7, ""});
  run.tests[0].pid = 7;
  run.skips = {{"whole", "", "not beside others", "large"}, {"fft", "", "no GPU", "medium"}};
  EXPECT_EQ(data_of(report_page(run, {})).at("tests"), json::parse(R"([
    {"n": "fft", "r": "skipped", "s": -1.0, "w": 0.0, "x": "no GPU"},
    {"n": "join", "r": "passed", "s": 4.5, "w": 0.0, "b": 500, "c": "medium", "p": 250},
    {"n": "join: Join.big", "r": "passed", "s": 4.0, "b": 500, "c": "medium", "p": 250},
    {"n": "join: Join.odd", "r": "skipped", "s": 0.25, "x": "later"},
    {"n": "sort", "r": "passed", "s": 4.5, "w": 4.0, "b": 500, "c": "", "p": 250},
    {"n": "whole", "r": "skipped", "s": -1.0, "w": 0.0, "x": "not beside others", "c": "large"}])"));
}

TEST(ReportPages, have_the_end_of_a_failed_tests_output_and_its_line_in_ctests_log) {
  auto run = run_of_two();
  run.failed = {{"join", "sort"}};
  const CtestLog log{"/build/LastTest.log", {{"join", {12, "a </script>\x1b \xff b\n", "its message\n"}}}};
  const auto page = report_page(run, {}, log);
  EXPECT_THAT(page, Not(HasSubstr("a </script>")));
  const auto data = data_of(page);
  EXPECT_EQ(data.at("log"), "/build/LastTest.log");
  const auto& join = data.at("failed").at(0);
  EXPECT_EQ(join.at("l"), 12);
  EXPECT_EQ(join.at("o"), "a </script>\x1b \uFFFD b\n");
  EXPECT_EQ(join.at("m"), "its message\n");
  EXPECT_FALSE(data.at("failed").at(1).contains("l"));
}

TEST(ReportPages, have_an_empty_list_of_what_there_was_not) {
  const auto data = data_of(report_page(RunLog{}, {}));
  for (const auto* const list : {"devices", "leases", "contexts", "waits", "workers", "tests", "history", "failed",
                                 "problems", "skips", "causes", "held_back"}) {
    EXPECT_EQ(data.at(list), json::array()) << list;
  }
  EXPECT_EQ(
      data.at("sums"),
      json::parse(R"({"tests":0,"passed":0,"failed":0,"skipped":0,"unknown":0,"running":0,"wall":0.0,"open":false,)"
                  R"("waited":0.0,"leased":-1.0,"used":-1.0})"));
}

TEST(ReportPages, show_what_a_lease_of_two_devices_used_of_each) {
  auto run = run_of_two();
  run.devices.push_back({"GPU-2", "H200", 1000});
  run.leases[0].devices = {"GPU-1", "GPU-2"};
  run.leases[0].peaks = {{"GPU-1", 250}, {"GPU-2", 100}};
  const auto leases = data_of(report_page(run, {run})).at("leases");
  ASSERT_THAT(leases, SizeIs(2));
  EXPECT_EQ(leases[0].at("p"), json::parse("[250, 100]"));
}

TEST(ReportPages, let_no_name_break_out_of_the_data) {
  auto run = run_of_two();
  const std::string name = "Sort</script><script>alert(1)</script><!--&amp;\"'\xff";
  run.leases[0].test = name;
  run.tests[0].test = name;
  run.host = name;
  const auto page = report_page(run, {run});
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(page, Not(HasSubstr("<!--")));
  EXPECT_EQ(data_of(page).at("leases")[0].at("n"), "join: Sort</script><script>alert(1)</script><!--&amp;\"'\uFFFD");
}

TEST(ReportPages, ask_nothing_of_a_network) {
  const auto run = run_of_two();
  const auto page = report_page(run, {run});
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  for (const auto* const word : {"http:", "https:", "src=", "href=", "@import", "url("}) {
    EXPECT_THAT(page, Not(HasSubstr(word)));
  }
}

} // namespace
} // namespace gputest::insights
