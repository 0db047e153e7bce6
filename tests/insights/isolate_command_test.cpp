// SPDX-License-Identifier: BSD-3-Clause
#include "support/tool.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace gputest::insights {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// A folder in which ctest knows cases of one executable, which run in workers.
class IsolateCommand : public ::testing::Test {
protected:
  /// As gpu_discover_tests() adds it.
  void add(const std::string& name, const std::string& program = GPUTEST_ENTRY_PROGRAM, const std::string& filter = "",
           const std::string& option = "") const {
    std::ofstream{folder_ + "/CTestTestfile.cmake", std::ios::app}
        << "add_test([=[" << name << "]=] \"" << program << "\" " << option
        << " \"" GPUTEST_CASES "\" \"--gtest_filter=" << (filter.empty() ? name : filter)
        << "\")\nset_tests_properties([=[" << name
        << "]=] PROPERTIES ENVIRONMENT \"GPUTEST_ENTRY=ctest;GPUTEST_TEST=" << name << "\" SKIP_RETURN_CODE 77)\n";
  }

  [[nodiscard]] tests::Ended isolate(std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {"isolate", "--test-dir", folder_});
    return tool_.run(options);
  }

  [[nodiscard]] nlohmann::json json_of(std::vector<std::string> options = {}) const {
    options.insert(options.begin(), "--json");
    return nlohmann::json::parse(isolate(options).out);
  }

  tests::Tool tool_;
  std::string folder_ = tool_.folder().path();
};

} // namespace

TEST_F(IsolateCommand, is_content_with_cases_that_do_not_depend_on_one_another) {
  for (const char* const name : {"Plain.a", "Plain.skips", "Plain.fails", "Host.a"}) {
    add(name);
  }
  const auto ended = isolate();
  EXPECT_EQ(ended.exit_code, 0) << ended.err << ended.out;
  EXPECT_THAT(ended.out, HasSubstr("No result differs; 4 tests run in workers, of which 1 "));
  EXPECT_THAT(ended.err, HasSubstr("run 3 of 3: shuffled"));
  const auto runs = json_of()["runs"];
  ASSERT_EQ(runs.size(), 3U);
  for (const auto& run : runs) {
    EXPECT_EQ(run["passed"], 2) << run["name"];
    EXPECT_EQ(run["failed"], 1) << run["name"];
    EXPECT_EQ(run["skipped"], 1) << run["name"];
  }
}

TEST_F(IsolateCommand, finds_what_passes_only_after_others) {
  add("Plain.a");
  add("Plain.needs_an_earlier_case");
  const auto ended = isolate({"--shuffles", "0"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.out,
              HasSubstr("Plain.needs_an_earlier_case depends on other cases: it fails in a process of its own"));
  EXPECT_THAT(ended.out, Not(HasSubstr("Plain.a depends")));
  const auto differ = json_of({"--shuffles", "0"})["differ"];
  ASSERT_EQ(differ.size(), 1U);
  EXPECT_EQ(differ[0]["name"], "Plain.needs_an_earlier_case");
  EXPECT_EQ(differ[0]["results"], nlohmann::json::parse(R"(["failed", "passed"])"));
}

TEST_F(IsolateCommand, says_that_a_test_depends_on_others_only_if_it_fails_again_by_itself) {
  tool_.folder().make_folder("racy");
  // Fails the first time, as if another test had been in its way.
  tool_.folder().write("racy/gputest-entry", "#!/bin/sh\n! mkdir '" + folder_ + "/racy/once' 2>/dev/null\n", 0755);
  std::ofstream{folder_ + "/CTestTestfile.cmake"} << "add_test(racy \"" << folder_ << "/racy/gputest-entry\" x)\n";
  const auto ended = isolate({"--shuffles", "0", "--", "-j3"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.out,
              HasSubstr("racy failed in a process of its own beside other tests, and passed there when it was "
                        "repeated by itself"));
  EXPECT_THAT(ended.out, Not(HasSubstr("depends on other")));
}

TEST_F(IsolateCommand, fails_where_all_was_skipped_so_that_nothing_was_compared) {
  add("Plain.skips");
  const auto ended = isolate({"--shuffles", "0"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.out, HasSubstr("Nothing was compared: all 1 tests that run in workers were skipped in every run"));
  EXPECT_EQ(json_of({"--shuffles", "0"})["compared"], 0);
}

TEST_F(IsolateCommand, compares_processes_with_workers_whatever_the_shell_says) {
  add("Plain.a");
  add("Plain.needs_an_earlier_case");
  tool_.set("GPUTEST_ISOLATION", "process");
  EXPECT_EQ(isolate({"--shuffles", "0"}).exit_code, 1);
}

TEST_F(IsolateCommand, shows_a_command_that_runs_the_test_as_it_did_and_no_other) {
  add("Plain.a");
  add("it's (a+b)|[c]", GPUTEST_ENTRY_PROGRAM, "Plain.needs_an_earlier_case");
  add("it's (aab)|c", GPUTEST_ENTRY_PROGRAM, "Plain.b");
  const auto differ = json_of({"--shuffles", "0", "--", "-j1"})["differ"];
  ASSERT_EQ(differ.size(), 1U) << differ;
  const auto command = differ[0]["command"].get<std::string>();
  EXPECT_THAT(command, HasSubstr(" -j1 "));
  const auto shown = tool_.start_program({"/bin/sh", "-c", command}).finish();
  EXPECT_THAT(shown.out, HasSubstr("0% tests passed, 1 tests failed out of 1")) << command << shown.err;
  EXPECT_THAT(isolate({"--shuffles", "0", "--", "-j1"}).out, HasSubstr("To see it:\n  " + command + "\n"));
}

TEST_F(IsolateCommand, finds_what_fails_only_after_others_and_the_command_that_shows_it) {
  add("Plain.poisons");
  add("Plain.b");
  add("Plain.fails_if_poisoned");
  const auto ended = isolate({"--shuffles", "0"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.out,
              HasSubstr("Plain.fails_if_poisoned fails after other cases in one process. To see it:\n  cd "));
  EXPECT_THAT(ended.out, HasSubstr("GPUTEST_CASES='Plain.poisons;Plain.fails_if_poisoned'"));
}

TEST_F(IsolateCommand, takes_what_is_not_started_for_a_failure) {
  add("Plain.a");
  std::ofstream{folder_ + "/CTestTestfile.cmake", std::ios::app}
      << "add_test(missing /no/such/program)\nset_tests_properties(missing PROPERTIES FIXTURES_SETUP fixture)\n"
         "add_test(needs_it true)\nset_tests_properties(needs_it PROPERTIES FIXTURES_REQUIRED fixture)\n";
  const auto runs = json_of()["runs"];
  ASSERT_EQ(runs.size(), 3U);
  for (const auto& run : runs) {
    EXPECT_EQ(run["passed"], 1) << run["name"];
    EXPECT_EQ(run["failed"], 2) << run["name"];
  }
}

TEST_F(IsolateCommand, finds_what_an_order_of_its_own_hides) {
  for (int i = 0; i < 30; ++i) {
    add("victim_" + std::to_string(i), GPUTEST_ENTRY_PROGRAM, "Plain.fails_if_poisoned");
  }
  add("Plain.poisons");
  const auto of_order = json_of({"--shuffles", "0"});
  EXPECT_TRUE(of_order["differ"].empty()) << of_order;
  const auto shuffled = json_of({"--shuffles", "5"}); // the culprit last in all of them: one chance in 28 millions
  ASSERT_FALSE(shuffled["differ"].empty());
  for (const auto& test : shuffled["differ"]) {
    EXPECT_THAT(test["name"].get<std::string>(), StartsWith("victim_"));
  }
  std::vector<std::string> names;
  for (const auto& run : shuffled["runs"]) {
    names.push_back(run["name"].get<std::string>());
  }
  EXPECT_THAT(names, testing::ElementsAre("a process each", "workers", "shuffled 1", "shuffled 2", "shuffled 3",
                                          "shuffled 4", "shuffled 5"));
}

TEST_F(IsolateCommand, hands_options_to_ctest_and_leaves_its_last_log_alone) {
  add("Plain.a");
  add("Plain.fails");
  std::filesystem::create_directories(folder_ + "/Testing/Temporary");
  std::ofstream{folder_ + "/Testing/Temporary/LastTestsFailed.log"} << "1:other\n";
  const auto runs = json_of({"--", "-R", "Plain.a", "-j2"})["runs"];
  EXPECT_EQ(runs[0]["passed"], 1);
  EXPECT_EQ(runs[0]["failed"], 0);
  std::ifstream log{folder_ + "/Testing/Temporary/LastTestsFailed.log"};
  std::string line;
  std::getline(log, line);
  EXPECT_EQ(line, "1:other");
}

TEST_F(IsolateCommand, does_not_count_what_runs_alone_as_tests_in_workers) {
  add("Plain.a", GPUTEST_ENTRY_PROGRAM, "", "[[--alone=it is large]]");
  add("Plain.a.workers_end", GPUTEST_ENTRY_PROGRAM, "", "--end");
  std::ofstream{folder_ + "/CTestTestfile.cmake", std::ios::app}
      << "add_test(no_options \"" GPUTEST_ENTRY_PROGRAM "\")\n";
  EXPECT_THAT(isolate({"--shuffles", "0"}).err, HasSubstr("runs in a worker, so there is nothing to compare"));
  add("Plain.b");
  add("Plain.c");
  EXPECT_THAT(isolate({"--shuffles", "0"}).out, HasSubstr("No result differs; 2 tests run in workers."));
}

TEST_F(IsolateCommand, gives_what_ctest_said_if_it_could_not_run_the_suite) {
  add("Plain.a");
  // A ctest that lists its tests and does not run them.
  const auto fails_with = [&](const std::string& end) {
    tool_.folder().write("bin/ctest",
                         "#!/bin/sh\ncase \"$*\" in\n*--show-only*) exec '" GPUTEST_CTEST
                         "' \"$@\" ;;\nesac\necho said\necho of it >&2\n" +
                             end + "\n",
                         0755);
    return isolate({"--", "-j2"});
  };
  tool_.folder().make_folder("bin");
  tool_.set("PATH", folder_ + "/bin:/usr/bin:/bin");
  const std::string again = "said\nof it\nTo see it again: GPUTEST_ISOLATION=process GPUTEST_DEPENDENCE=show "
                            "GPUTEST_MPS=off ctest --test-dir " +
                            folder_ + " -j2\n";
  const auto refused = fails_with("exit 3");
  EXPECT_EQ(refused.exit_code, 70);
  EXPECT_THAT(refused.err, HasSubstr("gputest: ctest ended with exit code 3 and this output:\n" + again));
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(fails_with("kill -9 $$").err, HasSubstr("gputest: ctest ended with signal 9 and this output:\n" + again));
}

TEST_F(IsolateCommand, says_what_to_do_where_there_is_nothing_to_compare) {
  add("Plain.a", "/usr/bin/env");
  const auto without = isolate();
  EXPECT_EQ(without.exit_code, 70);
  EXPECT_THAT(without.err, HasSubstr("ISOLATION worker"));
  add("Plain.b");
  const auto wrong = isolate({"--", "--preset", "none"});
  EXPECT_EQ(wrong.exit_code, 70);
  EXPECT_THAT(wrong.err, HasSubstr("ctest"));
  EXPECT_EQ(tool_.run({"isolate", "--shuffles", "1001"}).exit_code, 64);
}

} // namespace gputest::insights
