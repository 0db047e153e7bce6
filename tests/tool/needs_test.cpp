// SPDX-License-Identifier: BSD-3-Clause
#include "tool/needs.hpp"

#include "core/policy/request.hpp"
#include "support/tool.hpp"
#include "tool/exit_codes.hpp"

#include <gputest/error.hpp>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <sys/stat.h>

namespace gputest::tool {

namespace {

namespace fs = std::filesystem;
using namespace literals;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

/// What a run log says of an entry that has run.
struct Ran {
  std::string entry = "sort";
  Bytes took = 1_GiB;
  std::string more = R"("declared_by":"estimate")";
  Bytes device = 80_GiB;
  bool simulated = false;
  std::string evidence = "exact";
};

std::string line(const Ran& ran, std::time_t at = std::time(nullptr)) {
  std::ostringstream text;
  text << R"({"t":)" << at << R"(.5,"pid":1,"entry":")" << ran.entry << R"(","event":"need","bytes":)"
       << ran.took.count() << R"(,"evidence":")" << ran.evidence << R"(","device_bytes":)" << ran.device.count()
       << R"(,"simulated":)" << (ran.simulated ? "true" : "false") << "," << ran.more << "}\n";
  return text.str();
}

/// The first line of a log.
std::string run_line(const std::string& more, std::time_t at) {
  return R"({"t":)" + std::to_string(at) + R"(.1,"pid":1,"entry":"a","event":"run","version":1,)" + more + "}\n";
}

Bytes figure(const Needs& needs, const std::string& entry = "sort") { return needs.at({entry, false, 80}).figure; }

std::string declares(Bytes bytes) {
  return R"("declared_by":"test","declared_bytes":)" + std::to_string(bytes.count());
}

/// The command, in a build tree with run logs.
class NeedsCommand : public ::testing::Test {
protected:
  NeedsCommand() { fs::create_directories(logs_); }

  /// A run of ctest, newer than the others.
  void add_run(const std::vector<Ran>& entries) {
    std::ofstream log{logs_ + "/run-" + std::to_string(++runs_) + ".jsonl"};
    log << run_line(R"("ctest_pid":1)", std::time(nullptr) - 100 + runs_);
    for (const auto& entry : entries) {
      log << line(entry, std::time(nullptr) - 100 + runs_);
    }
    log.close();
    fs::last_write_time(logs_ + "/run-" + std::to_string(runs_) + ".jsonl",
                        fs::file_time_type::clock::now() - std::chrono::seconds{100 - runs_});
  }

  [[nodiscard]] tests::Ended needs(std::vector<std::string> options) const {
    options.insert(options.begin(), {"needs", "--test-dir", tool_.folder().path()});
    return tool_.run(options);
  }

  [[nodiscard]] std::string exported() const {
    std::ostringstream text;
    text << std::ifstream{file_}.rdbuf();
    return text.str();
  }

  tests::Tool tool_;
  std::string logs_ = tool_.folder().path() + "/Testing/gputest";
  std::string file_ = tool_.folder().path() + "/gpu_needs.jsonl";
  int runs_ = 0;
};

TEST(Needs, are_the_most_of_a_run_in_steps_of_a_sixteenth_of_an_octave) {
  Needs needs;
  add_log(needs, "1", line({"sort", 1000_MiB}) + line({"sort", 900_MiB}) + "\n{\"event\":\"need\"\n");
  EXPECT_EQ(figure(needs), 1024_MiB) << "a step is 32 MiB here";
  EXPECT_EQ(needs.begin()->second.took.size(), 1U) << "of one run";
  add_log(needs, "2", line({"sort", 0_B}));
  EXPECT_EQ(figure(needs), 1024_MiB);
}

TEST(Needs, of_a_sample_have_a_margin_because_it_is_a_lower_bound) {
  Needs needs;
  add_log(needs, "1", line({"sort", 1_GiB, R"("declared_by":"estimate")", 80_GiB, false, "sampled"}));
  EXPECT_EQ(figure(needs), policy::estimate_for(1_GiB + 256_MiB + 256_MiB));
}

TEST(Needs, of_a_test_that_takes_a_part_of_what_is_free_are_that_part_of_the_device) {
  const auto may_take = [](Bytes bytes) {
    return R"("declared_by":"estimate","possible_bytes":)" + std::to_string(bytes.count());
  };
  Needs needs;
  add_log(needs, "1", line({"sort", 10_GiB, may_take(39_GiB)}) + line({"sort", 15_GiB}));
  EXPECT_EQ(figure(needs), 15_GiB) << "one run does not show it";
  EXPECT_EQ(needs.begin()->second.took.at(0).bytes, 15_GiB);
  EXPECT_EQ(to_text(parse_needs(to_text(needs))), to_text(needs));
  needs = parse_needs(to_text(needs));
  for (const auto run : {"2", "3", "4", "5"}) {
    add_log(needs, run, line({"sort", 5_GiB, may_take(40_GiB)}));
    EXPECT_EQ(figure(needs), 40_GiB);
  }
}

TEST(Needs, of_a_test_that_only_prints_what_is_free_are_what_it_took) {
  Needs needs;
  for (const auto run : {"1", "2", "3"}) { // the same bytes of what the others leave
    const Bytes part{(16_GiB).count() / static_cast<unsigned>(run[0] - '0')};
    add_log(needs, run,
            line({"sort", 1_GiB, R"("declared_by":"estimate","possible_bytes":)" + std::to_string(part.count())}));
    EXPECT_EQ(figure(needs), 1_GiB);
  }
}

TEST(Needs, fall_only_if_five_runs_agree) {
  Needs needs;
  add_log(needs, "big", line({"sort", 8_GiB}));
  for (const auto run : {"1", "2", "3", "4", "5", "6"}) {
    add_log(needs, run, line({"sort", std::string{run} == "1" ? 2_GiB : 1_GiB}));
    EXPECT_EQ(figure(needs), std::string{run} == "6" ? 1_GiB : 8_GiB) << run;
  }
}

TEST(Needs, of_a_log_that_is_read_twice_are_the_same) {
  Needs needs;
  for (int i = 0; i < 6; ++i) {
    add_log(needs, "1", line({"sort", i == 0 ? 8_GiB : 1_GiB}));
  }
  EXPECT_EQ(needs.begin()->second.took.size(), 1U);
  EXPECT_EQ(figure(needs), 8_GiB);
  EXPECT_EQ(to_text(parse_needs(to_text(needs))), to_text(needs));
}

TEST(Needs, of_tests_that_can_run_without_others_of_their_entry_are_the_tests_own) {
  Needs needs;
  const std::string by_test = R"("by_test":true,"declared_by":"estimate","test":"test_sort.py::test_)";
  add_log(needs, "1", line({"pytest", 1_GiB, by_test + "keys\""}) + line({"pytest", 2_GiB, by_test + "pairs\""}));
  EXPECT_EQ(figure(needs, "test_sort.py::test_keys"), 1_GiB);
  EXPECT_EQ(figure(needs, "test_sort.py::test_pairs"), 2_GiB);
  EXPECT_EQ(needs.size(), 2U);
}

TEST(Needs, leave_out_a_line_that_lacks_a_part_with_all_that_it_has) {
  auto without_time = line({});
  without_time.replace(0, without_time.find(','), "{");
  without_time.erase(1, 1);
  Needs needs;
  add_log(needs, "run-1.jsonl", without_time);
  EXPECT_TRUE(needs.empty());
  add_log(needs, "run-1.jsonl", line({}));
  auto text = to_text(needs);
  EXPECT_EQ(parse_needs(text).size(), 1U);
  const auto took = text.find(R"("took":[)") + 8;
  text.erase(took, text.find(']') - took);
  EXPECT_TRUE(parse_needs(text).empty()) << text;
}

TEST(Needs, of_simulated_devices_and_of_other_sizes_are_kept_apart) {
  Needs needs;
  add_log(needs, "1",
          line({"sort", 1_GiB}) + line({"sort", 2_GiB, R"("declared_by":"entry")", 16_GiB}) +
              line({"sort", 3_GiB, R"("declared_by":"entry")", 80_GiB, true}));
  EXPECT_EQ(needs.size(), 3U);
  const auto code = [&](Bytes device, bool simulated) {
    return needs_for_ctest(needs, {}, {{"GPU-1", "a", device, simulated}});
  };
  EXPECT_EQ(code(80_GiB - 300_MiB, false), "set_property(GLOBAL PROPERTY \"gputest need sort\" 1024)\n");
  EXPECT_EQ(code(24_GiB, false), "set_property(GLOBAL PROPERTY \"gputest need sort\" 2048)\n") << "the nearest size";
  EXPECT_EQ(code(8_GiB, true), "set_property(GLOBAL PROPERTY \"gputest need sort\" 3072)\n");
  EXPECT_EQ(needs_for_ctest(needs, {}, {}), "");
}

TEST(Needs, that_are_committed_hold_where_an_entry_has_not_run) {
  Needs needs;
  add_log(needs, "1", line({"sort", 1_GiB}));
  const auto committed = parse_committed("{\"test\":\"sort\",\"needs\":{\"80GiB\":\"5120MiB\"}}\n\n"
                                         "{\"test\":\"a \\\"$\",\"needs\":{\"80GiB\":\"3GiB\",\"16GiB\":\"2GiB\"}}\n");
  EXPECT_EQ(needs_for_ctest(needs, committed, {{"GPU-1", "a", 80_GiB, false}}),
            "set_property(GLOBAL PROPERTY \"gputest need a \\\"\\$\" 3072)\n"
            "set_property(GLOBAL PROPERTY \"gputest need sort\" 1024)\n");
  EXPECT_EQ(to_text(committed), "{\"test\":\"a \\\"$\",\"needs\":{\"16GiB\":\"2048MiB\",\"80GiB\":\"3072MiB\"}}\n"
                                "{\"test\":\"sort\",\"needs\":{\"80GiB\":\"5120MiB\"}}\n");
  EXPECT_EQ(needs_for_ctest(needs, parse_committed("{\"test\":\"sort\",\"needs\":{\"16GiB\":\"2GiB\"}}\n"),
                            {{"GPU-1", "a", 16_GiB, false}}),
            "set_property(GLOBAL PROPERTY \"gputest need sort\" 2048)\n")
      << "it has run on another size only";
  EXPECT_EQ(needs_for_ctest({}, parse_committed("{\"test\":\"sort\",\"needs\":{\"80GiB\":\"512KiB\"}}\n"),
                            {{"GPU-1", "a", 80_GiB, false}}),
            "set_property(GLOBAL PROPERTY \"gputest need sort\" 1)\n");
  try {
    static_cast<void>(parse_committed("{}\n"));
    ADD_FAILURE() << "no test, and no error";
  } catch (const Error& error) {
    EXPECT_EQ(
        std::string{error.what()}.find(R"(line 1 is not such as {"test":"Sort.keys","needs":{"80GiB":"1984MiB"}}: )"),
        0U)
        << error.what();
  }
}

TEST_F(NeedsCommand, lists_what_tests_took_beside_what_they_declare) {
  add_run({{"sort", 3_GiB, declares(2_GiB)},
           {"join", 1_GiB, declares(8_GiB)},
           {"scan", 1_GiB},
           {"fits", 1_GiB, declares(1_GiB)},
           {"all", 1_GiB, R"("declared_by":"fixture")"},
           {"small", 1_MiB},
           {"sampled", 1_GiB, declares(1_GiB), 80_GiB, false, "sampled"}});
  const auto ended = needs({});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, ContainsRegex("sort +80 GiB +2 GiB +3 GiB +3 GiB +1 +over\n"));
  EXPECT_THAT(ended.out, ContainsRegex("join +80 GiB +8 GiB +1 GiB +1 GiB +1 +under\n"));
  EXPECT_THAT(ended.out, ContainsRegex("scan +80 GiB +- +1 GiB +1 GiB +1\n"));
  EXPECT_THAT(ended.out, ContainsRegex("all +80 GiB +large +1 GiB +1 GiB +1\n"));
  EXPECT_THAT(ended.out, ContainsRegex("sampled +80 GiB +1 GiB +at least 1 GiB +1.5 GiB +1\n"));
  EXPECT_THAT(ended.out, Not(HasSubstr("small")));
  EXPECT_THAT(ended.out, HasSubstr("7 entries measured: 6 shown, 1 took more than declared.\n"));
}

TEST_F(NeedsCommand, writes_the_same_for_programs) {
  add_run({{"join", 1_GiB, declares(8_GiB)}, {"scan", 2_GiB}});
  const auto json = nlohmann::json::parse(needs({"--json"}).out);
  EXPECT_EQ(json, nlohmann::json::parse(R"({"version": 1, "tests": [
    {"test": "join", "device_gib": 80, "simulated": false, "declared_bytes": 8589934592, "estimated": false,
     "took_bytes": 1073741824, "exact": true, "runs": 1, "needs_bytes": 1073741824, "verdict": "under"},
    {"test": "scan", "device_gib": 80, "simulated": false, "declared_bytes": null, "estimated": true,
     "took_bytes": 2147483648, "exact": true, "runs": 1, "needs_bytes": 2147483648, "verdict": ""}]})"));
}

TEST_F(NeedsCommand, exports_a_line_for_each_entry_above_256_mib_and_keeps_what_is_there) {
  std::ofstream{file_} << "{\"test\":\"gone\",\"needs\":{\"16GiB\":\"512MiB\"}}\n"
                          "{\"test\":\"sort\",\"needs\":{\"80GiB\":\"4096MiB\"}}\n";
  add_run({{"sort", 1_GiB},
           {"join", 300_MiB},
           {"small", 256_MiB},
           {"sample", 10_MiB, R"("declared_by":"estimate")", 80_GiB, false, "sampled"},
           {"imagined", 1_GiB, R"("declared_by":"estimate")", 16_GiB, true}});
  const auto ended = needs({"--export", file_});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(exported(), "{\"test\":\"gone\",\"needs\":{\"16GiB\":\"512MiB\"}}\n"
                        "{\"test\":\"join\",\"needs\":{\"80GiB\":\"304MiB\"}}\n"
                        "{\"test\":\"sort\",\"needs\":{\"80GiB\":\"4096MiB\"}}\n");
  EXPECT_EQ(ended.out,
            file_ + ": 3 entries. Left out: 1 measured on simulated devices, 2 that took no more than 256 MiB.\n");
  EXPECT_EQ(needs({"--check", file_}).exit_code, 0) << "of what was exported";
}

TEST_F(NeedsCommand, exports_to_what_is_no_file_and_reads_no_pipe) {
  add_run({{"sort", 1_GiB}});
  ASSERT_EQ(::mkfifo((logs_ + "/pipe.jsonl").c_str(), 0600), 0);
  for (const auto* const output : {"-", "/dev/stdout"}) {
    const auto ended = needs({"--export", output});
    EXPECT_EQ(ended.out, "{\"test\":\"sort\",\"needs\":{\"80GiB\":\"1024MiB\"}}\n");
    EXPECT_EQ(ended.err,
              "/dev/stdout: 1 entry. Left out: 0 measured on simulated devices, 0 that took no more than 256 MiB.\n");
  }
  EXPECT_EQ(needs({"--check"}).exit_code, 0);
}

TEST_F(NeedsCommand, checks_the_newest_run_against_the_file_and_against_what_is_declared) {
  std::ofstream{file_} << "{\"test\":\"sort\",\"needs\":{\"80GiB\":\"1024MiB\"}}\n";
  add_run({{"deleted", 3_GiB, declares(1_GiB)}});
  add_run({{"sort", 1_GiB},
           {"small", 256_MiB},
           {"fits", 3_GiB, declares(3_GiB)},
           {"all", 9_GiB, R"("declared_by":"fixture")"}});
  EXPECT_EQ(needs({"--check", file_}).exit_code, 0);
  add_run({{"sort", 1_GiB + 1_B},
           {"join", 257_MiB},
           {"over", 2_GiB, declares(1_GiB)},
           {"over", 3_GiB, declares(4_GiB)}}); // by another of its tests
  const auto ended = needs({"--check", file_});
  EXPECT_EQ(ended.exit_code, to_int(ExitCode::check_failed));
  EXPECT_THAT(ended.out, HasSubstr("join: took 257 MiB, and is not in " + file_ +
                                   ". Declare it, or type: gputest needs --export "));
  EXPECT_THAT(ended.out, HasSubstr("over: took 2 GiB, and declares 1 GiB. Declare more\n"));
  EXPECT_THAT(ended.out, HasSubstr("sort: took 1 GiB, and " + file_ + " says 1 GiB. "));
  EXPECT_THAT(ended.out, HasSubstr("3 entries took too much.\n"));
  EXPECT_THAT(needs({"--check"}).out, HasSubstr("1 entry took too much.\n"));
  EXPECT_NE(needs({"--check", file_ + "x"}).exit_code, 0);
  fs::copy_file(file_, logs_ + "/exported.jsonl");
  std::ofstream{logs_ + "/a_command.jsonl"} << run_line(R"("host":"of gputest run")", std::time(nullptr) + 100);
  EXPECT_EQ(needs({"--check", file_}).exit_code, to_int(ExitCode::check_failed));
  add_run({}); // no earlier run stands for one in which nothing was measured
  const auto unmeasured = needs({"--check", file_});
  EXPECT_EQ(unmeasured.exit_code, to_int(ExitCode::internal_error));
  EXPECT_THAT(unmeasured.err,
              ContainsRegex("the newest run of the tests has measured none .*report --log .*run-4.jsonl"));
}

TEST_F(NeedsCommand, checks_no_run_of_a_time_when_the_clock_was_ahead) {
  add_run({{"sort", 2_GiB, declares(1_GiB)}});
  std::ofstream{logs_ + "/ahead.jsonl"} << run_line(R"("ctest_pid":1)", std::time(nullptr) + 3600)
                                        << line({"sort", 2_GiB, declares(1_GiB)}, std::time(nullptr) + 3600);
  add_run({{"sort", 2_GiB, declares(3_GiB)}});
  const auto ended = needs({"--check"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
}

TEST_F(NeedsCommand, learns_from_runs_after_one_when_the_clock_was_ahead) {
  add_run({{"sort", 1_GiB}});
  EXPECT_EQ(figure(needs_in(logs_, true)), 1_GiB);
  fs::last_write_time(logs_ + "/needs", fs::file_time_type::clock::now() + std::chrono::hours{1});
  add_run({{"sort", 2_GiB}});
  EXPECT_EQ(figure(needs_in(logs_, true)), 2_GiB);
  EXPECT_LE(fs::last_write_time(logs_ + "/needs"), fs::file_time_type::clock::now());
}

TEST_F(NeedsCommand, says_where_it_has_looked) {
  const auto ended = needs({});
  EXPECT_EQ(ended.exit_code, to_int(ExitCode::internal_error));
  EXPECT_THAT(ended.err, HasSubstr("there is no run log in " + tool_.folder().path() + "/Testing/gputest"));
}

TEST_F(NeedsCommand, says_what_ctest_has_run_where_nothing_was_measured) {
  const auto folder = tool_.folder().path();
  const std::string begin = "Start testing: Nov 26 09:52 UTC\n";
  std::filesystem::create_directories(folder + "/Testing/Temporary");
  std::ofstream{folder + "/Testing/Temporary/LastTest.log"} << begin;
  EXPECT_THAT(needs({}).err,
              HasSubstr("ctest has run no test in " + folder + ": it has listed them (-N), or selected " +
                        "none. Run them: ctest --test-dir " + folder + "\n"));
  std::ofstream{folder + "/Testing/Temporary/LastTest.log"} << begin << "Command: \"/opt/gputest-entry\" \"sort\"\n";
  EXPECT_THAT(needs({}).err,
              testing::AllOf(HasSubstr("gputest has measured none of the tests that ctest has run in " + folder + ": "),
                             HasSubstr("gputest report --test-dir " + folder + "\n")));
}

TEST_F(NeedsCommand, has_nothing_to_say_where_ctest_has_run_tests_and_none_by_gputest) {
  const auto ctest_log = tool_.folder().path() + "/Testing/Temporary/LastTest.log";
  std::filesystem::create_directories(tool_.folder().path() + "/Testing/Temporary");
  const std::string begin = "Start testing: Nov 26 09:52 UTC\n";
  for (const std::string entry : {"", "Command: \"/opt/gputest-entry\" \"sort_test\"\n"}) {
    std::ofstream{ctest_log} << begin << entry;
    EXPECT_EQ(needs({}).exit_code, to_int(ExitCode::internal_error)) << entry;
  }
  std::ofstream{ctest_log} << begin << "Command: \"/bin/sort_test\"\n";
  for (const auto& options : std::vector<std::vector<std::string>>{{}, {"--check", file_}, {"--export", file_}}) {
    const auto ended = needs(options);
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("gputest has measured no test that ctest has run in "));
    EXPECT_THAT(ended.out, HasSubstr("none of these tests was started by gputest"));
  }
}

/// Anybody who can write a log could else write to the terminal of those who read it.
TEST_F(NeedsCommand, shows_no_control_character_of_a_log) {
  add_run({{R"(a\u001b[31m\u0007)", 2_GiB, declares(1_GiB)}});
  for (const auto& ended : {needs({}), needs({"--check"})}) {
    EXPECT_THAT(ended.out, HasSubstr("a?[31m?"));
  }
}

} // namespace

} // namespace gputest::tool
