// SPDX-License-Identifier: BSD-3-Clause
#include "support/tool.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace gputest::insights {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string contents_of(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// A log of two entries that the launcher has run under ctest.
class ReportCommand : public ::testing::Test {
protected:
  ReportCommand() {
    std::ofstream file{folder_ + "/CTestTestfile.cmake"};
    for (const std::string name : {"first", "second"}) {
      file << "add_test(" << name << " [[" << tests::Tool::path() << "]] run --memory 3GiB -- /bin/true)\n"
           << "set_tests_properties(" << name << " PROPERTIES ENVIRONMENT \"GPUTEST_TEST=" << name
           << "</script><b>;GPUTEST_ENTRY=ctest;GPUTEST_DEFAULT_LOG=Testing/gputest\")\n";
    }
    file.close();
    const auto ended = tool_.start_program({GPUTEST_CTEST, "--test-dir", folder_, "-j2"}).finish();
    EXPECT_EQ(ended.exit_code, 0) << ended.out;
  }

  [[nodiscard]] tests::Ended report(std::vector<std::string> options) const {
    options.insert(options.begin(), {"report", "--test-dir", folder_});
    return tool_.run(options);
  }

  tests::Tool tool_;
  std::string folder_ = tool_.folder().path();
  std::string page_ = folder_ + "/page.html";
};

TEST_F(ReportCommand, writes_a_page_of_the_last_run_into_the_current_folder_or_where_it_is_told) {
  const auto ended =
      tool_.start_program({"/bin/sh", "-c", "cd \"$1\" && exec \"$2\" report", "sh", folder_, tests::Tool::path()})
          .finish();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("2 tests: 2 passed, 0 failed, 0 skipped in "));
  EXPECT_THAT(ended.out, testing::EndsWith("\ngputest_report.html\n"));
  EXPECT_THAT(contents_of(folder_ + "/gputest_report.html"), HasSubstr(R"("jobs":2)"));
  EXPECT_THAT(report({"--output", page_}).out, testing::EndsWith("\n" + page_ + "\n"));
  EXPECT_TRUE(fs::exists(page_));
  const auto unwritten = report({"--output", "/nowhere/file"});
  EXPECT_EQ(unwritten.exit_code, 70);
  EXPECT_EQ(unwritten.out, "");
  EXPECT_EQ(unwritten.err, "gputest: /nowhere/file cannot be written: No such file or directory. Write --output with a "
                           "file in a folder that is there\n");
}

TEST_F(ReportCommand, has_the_time_to_the_end_of_ctest_and_not_to_the_last_line_of_the_run_log) {
  const auto log = folder_ + "/Testing/Temporary/LastTest.log";
  fs::last_write_time(log, fs::last_write_time(log) + std::chrono::seconds{100}); // as after a test that was killed
  EXPECT_THAT(report({"--output", page_}).out, testing::ContainsRegex(" in 10[0-9][.][0-9] s; "));
}

TEST_F(ReportCommand, has_what_only_ctest_knows_of_skips_and_of_what_was_killed) {
  for (const auto& [name, script] : {std::pair{"skips", "echo no such GPU"}, std::pair{"dies", "kill -KILL $PPID"}}) {
    std::ofstream{folder_ + "/CTestTestfile.cmake", std::ios::app}
        << "add_test(" << name << " [[" << tests::Tool::path() << "]] run --memory 3GiB -- sh -c [[" << script
        << "]])\nset_tests_properties(" << name
        << " PROPERTIES SKIP_REGULAR_EXPRESSION \"no such GPU\" ENVIRONMENT \"GPUTEST_TEST=" << name
        << ";GPUTEST_ENTRY=ctest;GPUTEST_DEFAULT_LOG=Testing/gputest\")\n";
  }
  tool_.start_program({GPUTEST_CTEST, "--test-dir", folder_, "-j2", "-R", "skips|dies"}).finish();
  const auto log = folder_ + "/Testing/Temporary/LastTest.log";
  auto text = contents_of(log);
  const auto time = text.find("Test time = ", text.find("Test: dies"));
  ASSERT_NE(time, std::string::npos) << text;
  text.replace(time, text.find('\n', time) - time, "Test time = 200.00 sec");
  std::ofstream{log} << text;
  fs::last_write_time(log, fs::last_write_time(log) + std::chrono::seconds{100});
  const auto printed = report({"--format", "github"}).out;
  EXPECT_THAT(printed, HasSubstr("### 2 tests: 0 passed, 1 failed, 1 skipped in 100."));
  EXPECT_THAT(printed, HasSubstr("busy for 50 % of the time"));
  EXPECT_THAT(printed, HasSubstr("its output has its SKIP_REGULAR_EXPRESSION"));
}

TEST_F(ReportCommand, writes_annotations_and_a_summary_for_github) {
  const auto place = folder_ + "/a_test.cpp:12: Failure";
  std::ofstream{folder_ + "/CTestTestfile.cmake", std::ios::app}
      << "add_test(fails [[" << tests::Tool::path() << "]] run --memory 3GiB -- sh -c \"echo '" << place
      << "'; exit 1\")\nset_tests_properties(fails PROPERTIES ENVIRONMENT "
         "\"GPUTEST_TEST=fails;GPUTEST_ENTRY=ctest;GPUTEST_DEFAULT_LOG=Testing/gputest\")\n";
  tool_.start_program({GPUTEST_CTEST, "--test-dir", folder_}).finish();
  tool_.set("GITHUB_WORKSPACE", folder_);
  const auto printed = report({"--format", "github"});
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out, testing::StartsWith("::error file=a_test.cpp,line=12,title=fails::"));
  EXPECT_THAT(printed.out, HasSubstr("\n### 3 tests: 2 passed, 1 failed, 0 skipped in "));
  tool_.set("GITHUB_STEP_SUMMARY", folder_ + "/summary.md");
  EXPECT_THAT(report({"--format", "github"}).out, testing::Not(HasSubstr("###")));
  EXPECT_THAT(contents_of(folder_ + "/summary.md"), HasSubstr("| fails | "));
  EXPECT_THAT(contents_of(folder_ + "/summary.md"), HasSubstr(" | a_test.cpp:12 |\n"));
}

TEST_F(ReportCommand, writes_a_trace) {
  EXPECT_EQ(report({"--format", "trace", "--output", page_}).exit_code, 0);
  EXPECT_THAT(contents_of(page_), HasSubstr(R"("name":"first)"));
  EXPECT_EQ(report({"--format", "pdf"}).exit_code, 64);
}

TEST_F(ReportCommand, is_what_cmake_can_call_after_ctest) {
  EXPECT_EQ(report({"--output", page_, "index-2026-11-22.json"}).exit_code, 0); // which CMake's instrumentation adds
  EXPECT_EQ(report({"--output", page_, "index-2026-11-22.json", "other"}).exit_code, 64);
}

TEST_F(ReportCommand, shows_the_newest_run_and_the_others_beside_it) {
  const auto logs = folder_ + "/Testing/gputest";
  std::ofstream{logs + "/run-old.jsonl"}
      << R"({"t":1000000000.0,"pid":1,"entry":"x","event":"run","version":1,"host":"old"})"
      << "\n";
  std::ofstream{logs + "/run-new.jsonl"} << R"({"t":9000000000.0,"pid":1,"entry":"x","event":"run","version":9})"
                                         << "\n";
  const auto ended = report({"--output", page_});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("left out: " + logs + "/run-new.jsonl: it is a log of version 9"));
  EXPECT_THAT(contents_of(page_), HasSubstr(R"("history":[{"tests":2)"));
  EXPECT_THAT(contents_of(page_), HasSubstr(R"("t":1000000000.0)"));
  const auto alone = report({"--log", logs + "/run-new.jsonl", "--output", page_});
  EXPECT_EQ(alone.exit_code, 70) << alone.err;
}

TEST_F(ReportCommand, has_all_tests_of_a_run_though_ctest_moves_to_start_each) {
  const auto above = folder_ + "/above";
  constexpr int directories = 8;
  fs::create_directories(above);
  std::ofstream list{above + "/CTestTestfile.cmake"};
  for (int i = 0; i < directories; ++i) {
    const auto name = "d" + std::to_string(i);
    fs::create_directories(above + "/" + name);
    list << "subdirs(" << name << ")\n";
    std::ofstream tests{above + "/" + name + "/CTestTestfile.cmake"};
    for (const std::string test : {"a", "b", "c"}) {
      tests << "add_test(" << name << test << " [[" << tests::Tool::path() << "]] run -- /bin/true)\n"
            << "set_tests_properties(" << name << test << " PROPERTIES ENVIRONMENT \"GPUTEST_TEST=" << name << test
            << ";GPUTEST_ENTRY=ctest;GPUTEST_DEFAULT_LOG=Testing/gputest\")\n";
    }
  }
  list.close();
  EXPECT_EQ(tool_.start_program({GPUTEST_CTEST, "--test-dir", above, "-j8"}).finish().exit_code, 0);
  const auto ended = tool_.run({"report", "--test-dir", above, "--output", page_});
  EXPECT_THAT(ended.out, HasSubstr("24 tests: 24 passed")) << ended.err;
  for (int i = 0; i < directories; ++i) {
    EXPECT_FALSE(fs::exists(above + "/d" + std::to_string(i) + "/Testing"));
  }
}

TEST_F(ReportCommand, has_ctests_verdict_on_cases_in_workers_and_in_processes_until_ctest_runs_again) {
  const auto cases = folder_ + "/cases";
  fs::create_directories(cases);
  std::ofstream list{cases + "/CTestTestfile.cmake"};
  const auto add = [&](const std::string& name, const std::string& command, const std::string& properties = "") {
    list << "add_test(" << name << ' ' << command << ")\nset_tests_properties(" << name
         << " PROPERTIES SKIP_RETURN_CODE 77 " << properties << " ENVIRONMENT \"GPUTEST_TEST=" << name
         << ";GPUTEST_ENTRY=ctest;GPUTEST_DEFAULT_LOG=Testing/gputest\")\n";
  };
  for (const std::string name : {"Plain.poisons", "Plain.fails_if_poisoned", "Crash.by_exit_0", "Plain.c"}) {
    add(name, GPUTEST_ENTRY_PROGRAM " " GPUTEST_CASES " --gtest_filter=" + name);
  }
  for (const std::string name : {"Crash.at_the_end", "Crash.by_segv", "Plain.skips", "Plain.a"}) {
    add("p." + name, GPUTEST_CASES " --gtest_filter=" + name);
  }
  add("p.fails", GPUTEST_CASES " --gtest_filter=Plain.fails", "WILL_FAIL ON");
  add("missing", "/nowhere/program");
  list << "add_test(host true)\n";
  list.close();
  const auto ctest = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {GPUTEST_CTEST, "--test-dir", cases, "-j1"});
    return tool_.start_program(options).finish().out;
  };
  const auto report_of_cases = [&] { return tool_.run({"report", "--test-dir", cases, "--output", page_}); };
  tool_.set("GPUTEST_DEPENDENCE", "show"); // a worker's failure is in the run log, and the entry passes
  EXPECT_THAT(ctest({"-V"}), HasSubstr("64% tests passed, 4 tests failed out of 11"));
  const std::string results = "10 tests: 5 passed, 4 failed, 1 skipped in "; // "host" is not in the run log
  EXPECT_THAT(report_of_cases().out, HasSubstr(results));
  const auto page = contents_of(page_);
  for (const auto* const failed : {R"({"n":"Crash.by_exit_0",)", R"({"n":"p.Crash.at_the_end",)",
                                   R"({"n":"p.Crash.by_segv","w":["killed by a signal)",
                                   R"({"n":"missing","w":["nothing of it is in the run log"])"}) {
    EXPECT_THAT(page, HasSubstr(failed));
  }
  ctest({"-R", "host"});
  ctest({"-N"});
  EXPECT_THAT(report_of_cases().err, HasSubstr("ctest's own results of this run are not in " + cases));
  for (const auto& later : {std::vector<std::string>{"-N"}, {"-R", "nothing has this name"}, {"-R", "host"}}) {
    ctest({"-R", "^p.fails$"});
    EXPECT_EQ(report_of_cases().err, "");
    ctest(later); // replaces ctest's list of failed tests, or its log
    EXPECT_THAT(report_of_cases().err, HasSubstr("ctest's own results of this run are not in " + cases));
  }
}

TEST_F(ReportCommand, reads_the_logs_that_the_shell_says_tests_write) {
  const auto logs = folder_ + "/elsewhere";
  fs::rename(folder_ + "/Testing/gputest", logs);
  std::ofstream{logs + "/other.jsonl"}
      << R"({"t":9000000000.0,"pid":1,"entry":"x","event":"run","version":1,"folder":"/another/build"})"
      << "\n"
      << R"({"t":9000000001.0,"pid":2,"entry":"y","event":"enter","devices":[]})"
      << "\n"
      << R"({"t":9000000002.0,"pid":2,"entry":"y","event":"end","exit":3})"
      << "\n";
  EXPECT_NE(report({"--output", page_}).exit_code, 0);
  tool_.set("GPUTEST_LOG", logs);
  const auto ended = report({"--output", page_});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("2 tests: 2 passed")) << "of this build tree";
  std::ofstream{folder_ + "/one.jsonl"}
      << R"({"t":9000000000.0,"pid":1,"entry":"x","event":"run","version":1,"folder":"/another/build"})"
      << "\n";
  EXPECT_THAT(report({"--output", page_, "--log", folder_ + "/one.jsonl"}).out, HasSubstr("0 tests: ")) << "by --log";
  fs::create_directory(folder_ + "/others");
  fs::rename(logs + "/other.jsonl", folder_ + "/others/other.jsonl");
  tool_.set("GPUTEST_LOG", folder_ + "/others");
  EXPECT_THAT(report({"--output", page_}).out, HasSubstr("1 tests: 0 passed, 1 failed"))
      << "there is none of this build tree";
}

TEST_F(ReportCommand, shows_large_tests_that_were_excluded_and_the_output_of_failed_ones_while_ctests_log_is_there) {
  const auto above = folder_ + "/large";
  fs::create_directories(above);
  std::ofstream list{above + "/CTestTestfile.cmake"};
  for (const std::string rest : {"whole large -- /bin/true", "fails small -- /bin/sh -c \"echo '</b>'; exit 3\""}) {
    const auto name = rest.substr(0, 5);
    list << "add_test(" << name << " [[" << tests::Tool::path() << "]] run --memory" << rest.substr(5) << ")\n"
         << "set_tests_properties(" << name << " PROPERTIES SKIP_RETURN_CODE 77 ENVIRONMENT \"GPUTEST_TEST=" << name
         << ";GPUTEST_ENTRY=ctest;GPUTEST_DEFAULT_LOG=Testing/gputest\")\n";
  }
  list.close();
  tool_.set("GPUTEST_RUN_MODE", "parallel");
  tool_.start_program({GPUTEST_CTEST, "--test-dir", above, "-j2"}).finish();
  const auto page = [&] {
    EXPECT_EQ(tool_.run({"report", "--test-dir", above, "--output", page_}).exit_code, 0);
    return contents_of(page_);
  };
  const auto with_output = page();
  EXPECT_THAT(with_output, testing::ContainsRegex(R"("n":"whole","r":"skipped"[^}]*"c":"large")"));
  EXPECT_THAT(with_output, HasSubstr("\"log\":\"" + above + "/Testing/Temporary/LastTest.log\""));
  EXPECT_THAT(with_output, HasSubstr(R"(\u003c/b\u003e\n)"));
  tool_.start_program({GPUTEST_CTEST, "--test-dir", above, "-N"}).finish();
  EXPECT_THAT(page(), HasSubstr(R"("log":"")")) << "of another ctest";
}

TEST_F(ReportCommand, shows_the_tests_that_have_not_ended_as_running) {
  const auto running = folder_ + "/running";
  fs::create_directories(running);
  std::ofstream script{running + "/script"}; // the second test reads the log of the run that it is a test of
  script << "unset GPUTEST_LEASE_OF; '" << tests::Tool::path() << "' report --output '" << page_ << "' --test-dir '"
         << running << "'\n";
  script.close();
  std::ofstream list{running + "/CTestTestfile.cmake"};
  for (const std::string rest : {"a -- /bin/true", "b -- /bin/sh script"}) {
    list << "add_test(" << rest[0] << " [[" << tests::Tool::path() << "]] run" << rest.substr(1) << ")\n"
         << "set_tests_properties(" << rest[0] << " PROPERTIES ENVIRONMENT \"GPUTEST_TEST=" << rest[0]
         << ";GPUTEST_ENTRY=ctest;GPUTEST_DEFAULT_LOG=Testing/gputest\")\n";
  }
  list.close();
  const auto said = tool_.start_program({GPUTEST_CTEST, "--test-dir", running, "-V"}).finish().out;
  EXPECT_THAT(said, HasSubstr("2 tests: 1 passed, 0 failed, 0 skipped, 1 running in at least "));
  EXPECT_THAT(contents_of(page_), HasSubstr(R"({"n":"b","r":"running")"));
  EXPECT_THAT(tool_.run({"report", "--test-dir", running, "--output", page_}).out, HasSubstr("2 tests: 2 passed, "));
}

TEST_F(ReportCommand, says_where_it_has_looked_for_a_log) {
  const auto ended = tool_.run({"report", "--test-dir", "/nowhere"});
  EXPECT_NE(ended.exit_code, 0);
  EXPECT_THAT(ended.err, HasSubstr("there is no run log in /nowhere/Testing/gputest. Run the tests with ctest"));
}

TEST_F(ReportCommand, has_nothing_to_report_where_ctest_has_run_tests_and_none_by_gputest) {
  const auto other = folder_ + "/other";
  fs::create_directory(other);
  std::ofstream{other + "/CTestTestfile.cmake"} << "add_test(plain /bin/true)\n";
  ASSERT_EQ(tool_.start_program({GPUTEST_CTEST, "--test-dir", other, "-N"}).finish().exit_code, 0);
  const auto listed = tool_.run({"report", "--test-dir", other, "--output", page_});
  EXPECT_NE(listed.exit_code, 0);
  EXPECT_THAT(listed.err,
              HasSubstr("ctest has run no test in " + other + ": it has listed them (-N), or selected none"));
  ASSERT_EQ(tool_.start_program({GPUTEST_CTEST, "--test-dir", other}).finish().exit_code, 0);
  const auto ended = tool_.run({"report", "--test-dir", other, "--output", page_});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("there is nothing to report of the tests that ctest has run in " + other +
                                   ": none of these tests was started by gputest"));
  EXPECT_FALSE(fs::exists(page_));
}

TEST_F(ReportCommand, makes_a_page_that_a_browser_shows_with_five_thousand_tests) {
  const std::string browser = "/usr/bin/chromium";
  if (!fs::exists(browser)) {
    GTEST_SKIP() << "there is no browser in " << browser;
  }
  std::ofstream log{folder_ + "/large.jsonl"};
  log << R"({"t":1000.0,"pid":1,"entry":"e","event":"run","version":1})"
      << "\n";
  for (int i = 0; i < 5000; ++i) {
    const auto begin = [&](const std::string& event, double t) -> std::ostream& {
      return log << R"({"t":)" << std::to_string(1000 + i * 0.1 + t) << R"(,"pid":)" << 2 + i
                 << R"(,"entry":"</script><b id='broken'>)" << i << R"(","event":")" << event << '"';
    };
    begin("enter", 1)
        << R"(,"devices":[{"uuid":"GPU-1","name":"H200","bytes":150000000000}],"overhead_bytes":500000000,"waited":0.5})"
        << "\n";
    begin("lease", 2) << R"(,"bytes":)" << 1000000000LL * (1 + i % 9) << R"(,"devices":["GPU-1"],"waited":0.4})"
                      << "\n";
    begin("release", 3) << R"(,"evidence":"exact","devices":[{"uuid":"GPU-1","peak_bytes":900000000}]})"
                        << "\n";
    begin("end", 3.1) << R"(,"exit":)" << (i == 4321 ? 3 : 0) << "}"
                      << "\n";
  }
  log.close();
  ASSERT_EQ(report({"--log", folder_ + "/large.jsonl", "--output", page_}).exit_code, 0);
  const auto shown = [&](const std::string& words) {
    return tool_
        .start_program({browser, "--headless", "--no-sandbox", "--disable-gpu",
                        "--user-data-dir=" + folder_ + "/browser", "--dump-dom", "file://" + page_ + words})
        .finish();
  };
  const auto all = shown("");
  EXPECT_THAT(all.out, HasSubstr(R"(data-ready="yes")")) << all.err; // the script came to its end
  EXPECT_THAT(all.out, HasSubstr("<b>5000</b><span>tests</span>"));
  EXPECT_THAT(all.out, HasSubstr(R"(<b class="bad">&lt;/<wbr>script&gt;&lt;b id='broken'&gt;4321</b>)"))
      << "failed first";
  EXPECT_THAT(all.out, testing::Not(HasSubstr("<b id=")));
  EXPECT_THAT(shown("#passed%20432").out, HasSubstr("14 of 5000")) << "432, …, 4432, and 4320 to 4329 without 4321";
}

} // namespace
} // namespace gputest::insights
