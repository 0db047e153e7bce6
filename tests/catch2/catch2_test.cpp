// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/test_status_page.hpp"
#include "support/suite_test.hpp"

#include <gputest/bytes.hpp>

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace gputest::tests {
namespace {

using namespace literals;
using policy::Stage;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class Catch2 : public SuiteTest {
protected:
  [[nodiscard]] ChildProcess start_case(const std::string& spec, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {GPUTEST_CATCH2_SUITE, spec});
    return start_program(std::move(more));
  }
  /// Its output's lines are not broken.
  [[nodiscard]] Ended run_case(const std::string& spec) const {
    return run(GPUTEST_CATCH2_SUITE, {spec, "--reporter=compact"});
  }

  /// The lines of the run log about test cases.
  [[nodiscard]] std::vector<std::string> test_cases_logged() const {
    std::vector<std::string> lines;
    for (const auto& file : std::filesystem::directory_iterator{folder() + "/logs"}) {
      std::ifstream log{file.path()};
      for (std::string line; std::getline(log, line);) {
        if (line.find(R"("suite":"")") != std::string::npos) {
          lines.push_back(line);
        }
      }
    }
    return lines;
  }
};

TEST_F(Catch2, holds_what_the_tags_say) {
  auto bytes = start_case("bytes");
  bytes.wait_for_out("@body");
  EXPECT_EQ(claim_of(bytes).stage, Stage::holding);
  EXPECT_EQ(claim_of(bytes).lease_bytes, (3_GiB).count());
  auto small = start_case("small");
  small.wait_for_out("@body");
  EXPECT_EQ(claim_of(small).lease_bytes, (256_MiB).count());
  EXPECT_EQ(claim_of(small).largest_bytes, (256_MiB).count()) << "the plan is of the selected test cases";
  EXPECT_EQ(small.finish().exit_code, 0);
  const Ended ended = bytes.finish();
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
  EXPECT_THAT(ended.err, HasSubstr("gputest: admitted tags: bytes: 3 GiB on SIM-1x4096MiB-0"));
  auto medium = start_case("medium");
  medium.wait_for_out("@body");
  EXPECT_TRUE(claim_of(medium).medium_lock);
}

TEST_F(Catch2, case_that_may_fail_fails_for_no_check_of_an_earlier_attempt) {
  auto holder = start_holder();
  set("GPUTEST_ENTRY", "ctest");
  const auto start_watched = [&](const char* spec) {
    return start_program({GPUTEST_ENTRY_PROGRAM, "--watch", GPUTEST_CATCH2_SUITE, spec});
  };
  auto fails = start_watched("fails and takes more");
  fails.wait_for_err("What had failed before counts, too. ");
  auto may_fail = start_watched("may fail and takes more");
  may_fail.wait_for_err("Only that counts. ");
  static_cast<void>(holder.finish());
  EXPECT_NE(fails.finish().exit_code, 0); // 1, or 42 by newer versions of Catch2
  EXPECT_EQ(may_fail.finish().exit_code, 0);
}

TEST_F(Catch2, takes_from_the_entry_what_no_tag_says) {
  set("GPUTEST_MEMORY", "2GiB");
  auto untagged = start_case("untagged");
  untagged.wait_for_out("@body");
  EXPECT_EQ(claim_of(untagged).lease_bytes, (2_GiB).count());
}

TEST_F(Catch2, holds_one_lease_for_all_sections_and_gives_it_back_before_the_next_test_case) {
  auto process = start_case("sections,medium");
  process.wait_for_out("@body");
  EXPECT_TRUE(claim_of(process).medium_lock);
  for (int section = 0; section < 2; ++section) {
    process.say("go on");
    process.wait_for_out("@body");
    EXPECT_EQ(claim_of(process).lease_bytes, (1_GiB).count());
    EXPECT_FALSE(claim_of(process).medium_lock);
  }
  const Ended ended = process.finish();
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
}

TEST_F(Catch2, skips_with_the_reason_and_reports_the_skip_to_ctest) {
  const Ended ended = run_case("too much");
  EXPECT_EQ(ended.exit_code, 77) << ended.out;
  EXPECT_THAT(ended.out, HasSubstr("tags: too much needs 100 GiB of a device"));
  EXPECT_THAT(ended.out, Not(HasSubstr("@never")));
  set("GPUTEST_RUN_MODE", "parallel");
  EXPECT_EQ(run_case("large").exit_code, 77);
  set("GPUTEST_FORBID_SKIP", "1");
  EXPECT_NE(run_case("too much").exit_code, 77);
  unset("GPUTEST_FORBID_SKIP");
  set("GPUTEST_DEVICES", "none");
  EXPECT_EQ(run_case("small").exit_code, 77);
}

TEST_F(Catch2, shows_a_skip_beside_a_test_case_that_passes_in_an_entry) {
  EXPECT_EQ(run_case("too much,untagged").exit_code, 0);
  set("GPUTEST_ENTRY", "ctest");
  const Ended ended = run_case("too much,untagged");
  EXPECT_EQ(ended.exit_code, 77) << ended.out;
  EXPECT_THAT(ended.err, HasSubstr("gputest: 1 of 2 test cases skipped"));
  const Ended failed = run_case("too much,untagged,fails");
  EXPECT_NE(failed.exit_code, 77) << failed.out;
  EXPECT_NE(failed.exit_code, 0);
}

TEST_F(Catch2, leaves_the_reason_of_a_skip_to_who_watches_where_the_output_is_judged) {
  set("GPUTEST_ENTRY", "by_output");
  const Ended ended = run_case("too much");
  EXPECT_EQ(ended.exit_code, 77) << ended.out;
  EXPECT_THAT(ended.out, Not(HasSubstr("needs 100 GiB")));
  EXPECT_THAT(ended.err, HasSubstr("gputest: skipped: tags: too much needs 100 GiB"));
}

TEST_F(Catch2, takes_no_other_failure_for_a_skip) {
  const auto result_of = [&](const std::string& spec) {
    return run(GPUTEST_CATCH2_SUITE, {spec, "--warn=UnmatchedTestSpec"}).exit_code;
  };
  EXPECT_EQ(result_of("too much"), 77);
  const int unmatched = result_of("misspelt,too much");
  EXPECT_NE(unmatched, 77);
  EXPECT_NE(unmatched, 0);
}

TEST_F(Catch2, fails_what_cannot_run_although_its_tags_expect_a_failure) {
  EXPECT_EQ(run_case("may fail").exit_code, 0);
  set("GPUTEST_DIR", "/proc/no/such/folder");
  const Ended ended = run_case("may fail");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, Not(HasSubstr("the process ended with 0"))) << "main() returns it";
}

TEST_F(Catch2, fails_if_main_drops_the_result_of_test_cases_that_failed) {
  EXPECT_EQ(start_program({GPUTEST_CATCH2_OWN_MAIN, "passes"}).finish().exit_code, 0);
  const Ended ended = start_program({GPUTEST_CATCH2_OWN_MAIN, "fails"}).finish();
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("gputest: failed: tests have failed, but the process ended with 0. End main() with "
                                   "`return gputest::run_catch2_tests(argc, argv);`"));
}

TEST_F(Catch2, fails_a_test_case_that_takes_more_than_its_lease) {
  set("GPUTEST_MEMORY", "small");
  EXPECT_EQ(run_case("takes too much").exit_code, 0) << "where no entry runs, that is a warning";
  set("GPUTEST_TEST", "entry");
  for (const std::string name : {"takes too much", "takes too much and throws"}) {
    const Ended ended = run_case(name + ",untagged");
    EXPECT_NE(ended.exit_code, 0) << name;
    EXPECT_THAT(ended.out, HasSubstr("entry: " + name + " took 1 GiB, and its lease is 256 MiB")) << name;
    EXPECT_THAT(ended.out, HasSubstr("Declare what it needs: the tag [gpu:1GiB] in place of [gpu_small]")) << name;
    EXPECT_EQ(ended.out.find("of its own") != std::string::npos, name != "takes too much") << "its own failure too";
    EXPECT_THAT(ended.out, Not(HasSubstr("entry: untagged took")));
  }
  const Ended without = run_case("takes without a lease,small");
  EXPECT_NE(without.exit_code, 0);
  EXPECT_THAT(without.out, HasSubstr("entry: takes without a lease took 64 MiB without a lease"));
  EXPECT_THAT(without.out, HasSubstr("the tag [gpu:64MiB]"));
}

TEST_F(Catch2, names_a_tag_also_in_a_warning) {
  const Ended ended = run_case("takes too much");
  EXPECT_THAT(ended.err, HasSubstr("Declare what it needs: the tag [gpu:1GiB]"));
}

TEST_F(Catch2, fails_a_run_in_which_a_test_case_leaves_memory) {
  set("GPUTEST_TEST", "entry");
  const Ended ended = run_case("leaves memory,small");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err,
              HasSubstr("gputest: failed: entry: leaves memory ends with 64 MiB of device 0 still allocated"));
  EXPECT_THAT(ended.err, HasSubstr("For what a library keeps on purpose: allow it: KEEPS 64MiB in gpu_add_test()"));
  EXPECT_THAT(ended.err, Not(HasSubstr("entry: small ends with")));
  EXPECT_THAT(ended.err, Not(HasSubstr("the process ended with 0"))) << "main() returns it";
  set("GPUTEST_ENTRY", "ctest");
  EXPECT_EQ(run_case("leaves memory,too much").exit_code, 1) << "a failure beside a skip is a failure";
  const int of_a_skip = run_case("leaves memory and skips").exit_code;
  EXPECT_NE(of_a_skip, 0);
  EXPECT_NE(of_a_skip, 77) << "a failure of a test case that skips itself is a failure";
  set("GPUTEST_ENTRY", "will_fail");
  EXPECT_EQ(run_case("leaves memory").signal, SIGKILL) << "that is no failure which WILL_FAIL expects";
}

TEST_F(Catch2, says_which_test_case_ends_the_process_in_an_entry_or_not) {
  const Ended ended = run_case("small,exits");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("gputest: failed: exits called exit(0)"));
}

TEST_F(Catch2, takes_no_number_of_failures_for_a_skip) {
  const Ended ended = run_case("fails 77 times");
  EXPECT_NE(ended.exit_code, 0);
  EXPECT_NE(ended.exit_code, 77);
}

TEST_F(Catch2, writes_what_became_of_each_test_case_to_the_run_log) {
  set("GPUTEST_LOG", folder() + "/logs");
  EXPECT_NE(run_case("untagged,too much,fails,host").exit_code, 0);
  const auto lines = test_cases_logged();
  ASSERT_EQ(lines.size(), 4U);
  for (const std::string expected : {R"("untagged","result":"passed")", R"("fails","result":"failed")",
                                     R"("too much","result":"skipped")", R"("host","result":"passed")"}) {
    EXPECT_THAT(lines, Contains(HasSubstr(R"("name":)" + expected))); // Catch2 3.15 runs them in any order
  }
  for (const auto& line : lines) {
    EXPECT_EQ(line.find(R"("reason":"tags: too much needs 100 GiB)") != std::string::npos,
              line.find(R"("too much")") != std::string::npos)
        << line;
    const auto seconds = line.find(R"("seconds":)");
    ASSERT_NE(seconds, std::string::npos);
    EXPECT_LT(std::stod(line.substr(seconds + 10)), 100) << "the time of this test case";
  }
}

TEST_F(Catch2, plans_what_can_be_used_and_runs_it) {
  const Ended ended = run_case("bad size,small");
  EXPECT_NE(ended.exit_code, 0);
  EXPECT_THAT(ended.out, HasSubstr("@body"));
  EXPECT_THAT(ended.out, HasSubstr("bad size: the size in the tag [gpu:3GB] '3GB' has an unknown unit 'GB'"));
  set("GPUTEST_MEMORY", "2GiB");
  auto process = start_case("small,host,bad size");
  process.wait_for_out("@body");
  EXPECT_EQ(claim_of(process).largest_bytes, (256_MiB).count())
      << "a test case without a GPU needs none of the entry's";
  EXPECT_NE(process.finish().exit_code, 0);
  set("GPUTEST_ENTRY", "will_fail");
  EXPECT_EQ(run_case("bad size").signal, SIGKILL) << "that is no failure which WILL_FAIL expects";
}

TEST_F(Catch2, counts_no_hidden_test_case_unless_it_is_selected) {
  EXPECT_EQ(start_program({GPUTEST_CATCH2_OWN_MAIN}).finish().exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(ledger())) << "only test cases without a GPU ran";
}

TEST_F(Catch2, fails_in_an_entry_that_is_started_without_running_test_cases) {
  for (const std::string argument : {"--list-tests", "--no-such-option", "no such test case"}) {
    SCOPED_TRACE(argument);
    set("GPUTEST_ENTRY", "ctest");
    const Ended ended = run_case(argument);
    EXPECT_NE(ended.exit_code, 0);
    EXPECT_NE(ended.exit_code, 77);
    EXPECT_THAT(ended.err, HasSubstr(argument == "--list-tests" ? "gputest: failed: no test ran, although"
                                                                : "gputest: failed: no test case ran"));
    set("GPUTEST_ENTRY", "will_fail");
    EXPECT_EQ(run_case(argument).signal, SIGKILL) << "that is no failure which WILL_FAIL expects";
  }
}

TEST_F(Catch2, passes_in_an_entry_without_running_test_cases_if_its_command_line_allows_that) {
  const os::TestStatusPage page;
  set("GPUTEST_ENTRY", page.path());
  const Ended ended = run(GPUTEST_CATCH2_SUITE, {"no such test case", "--allow-running-no-tests"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.err, "");
  EXPECT_EQ(page.report().ended, 1U);
  EXPECT_EQ(page.report().nothing_ran, 0U);
}

TEST_F(Catch2, runs_test_cases_that_use_no_gpu_without_one) {
  set("GPUTEST_DEVICES", "none");
  EXPECT_EQ(run_case("host").exit_code, 0);
  const Ended beside_a_skip = run_case("host,small");
  EXPECT_EQ(beside_a_skip.exit_code, 0) << beside_a_skip.out;
  EXPECT_THAT(beside_a_skip.out, HasSubstr("@body"));
  const Ended contradiction = run_case("host with a size");
  EXPECT_NE(contradiction.exit_code, 0);
  EXPECT_THAT(contradiction.out, HasSubstr("the tags say no_gpu and what it needs of a GPU"));
  set("GPUTEST_DEVICES", "simulated:1x4GiB,context=0");
  auto host = start_case("host");
  host.wait_for_out("@body");
  EXPECT_EQ(claim_of(host).stage, Stage::outside);
}

TEST_F(Catch2, runs_untagged_test_cases_without_a_gpu_if_their_entry_says_so) {
  set("GPUTEST_MEMORY", "none");
  set("GPUTEST_DEVICES", "none");
  const Ended untagged = run_case("untagged,small");
  EXPECT_EQ(untagged.exit_code, 0) << untagged.out;
  EXPECT_THAT(untagged.out, HasSubstr("@body"));
  EXPECT_EQ(run_case("small").exit_code, 77) << "it says that it needs memory";
  set("GPUTEST_DEVICES", "simulated:1x4GiB,context=64MiB");
  set("GPUTEST_OVERUSE", "fail");
  EXPECT_THAT(run_case("takes without a lease").out, HasSubstr("says that it uses no GPU"));
}

TEST_F(Catch2, lists_test_cases_without_a_gpu_or_a_ledger_in_an_entry_too) {
  const os::TestStatusPage page;
  for (const std::string& entry : {std::string{}, page.path()}) {
    set("GPUTEST_ENTRY", entry);
    const Ended ended = run(GPUTEST_CATCH2_SUITE, {"--list-tests"});
    EXPECT_EQ(ended.exit_code, 0) << entry;
    EXPECT_EQ(ended.err, "") << entry;
    EXPECT_THAT(ended.out, HasSubstr("bytes"));
    EXPECT_FALSE(std::filesystem::exists(ledger()));
  }
  EXPECT_EQ(page.report().nothing_ran, 1U);
  EXPECT_EQ(page.report().failed_by_gputest, "");
}

TEST_F(Catch2, writes_the_list_of_its_test_cases_with_what_their_tags_say_and_runs_none) {
  const auto file = folder() + "/list";
  set("GPUTEST_LIST_FILE", file);
  const Ended ended = run(GPUTEST_CATCH2_SUITE, {"--list-tests"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.out, "");
  std::ifstream in{file};
  std::stringstream text;
  text << in.rdbuf();
  const auto line_of = [&](const std::string& name) {
    const auto begin = text.str().find("gputest_listed_test([[" + name + "]] ");
    return begin == std::string::npos ? "" : text.str().substr(begin, text.str().find('\n', begin) - begin);
  };
  EXPECT_THAT(line_of("bytes"), HasSubstr(" ENABLED medium 3GiB 1 "));
  EXPECT_THAT(line_of("untagged"), HasSubstr(" ENABLED small auto 1 "));
  EXPECT_THAT(line_of("host"), HasSubstr(" ENABLED host any 1 "));
  EXPECT_THAT(line_of("bad size"), HasSubstr(" ENABLED host any 1 "));
  EXPECT_EQ(line_of("hidden"), "");
  EXPECT_FALSE(std::filesystem::exists(ledger()));
  set("GPUTEST_ENTRY", "ctest");
  EXPECT_EQ(run(GPUTEST_CATCH2_SUITE, {"--list-tests"}).exit_code, 1);
}

} // namespace
} // namespace gputest::tests
