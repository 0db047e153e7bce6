// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/file.hpp"
#include "core/os/host.hpp"
#include "core/os/process.hpp"
#include "support/tool.hpp"
#include "tool/exit_codes.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace gputest::insights {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t gib = std::uint64_t{1} << 30U;

/// A folder of sources, and a log of a run of their tests.
class ClassifyCommand : public ::testing::Test {
protected:
  ClassifyCommand() {
    fs::create_directories(build_);
    log_ << R"({"t":1000.0,"pid":1,"entry":"e","event":"run","version":1,"jobs":4,"folder":"/build"})"
         << "\n";
  }

  /// A log of an earlier run, with one test whose program is the one that is named.
  static std::string earlier(const std::string& test, std::uint64_t declared, std::uint64_t used,
                             const std::string& program = "") {
    const auto line = [](const std::string& event) { return R"({"t":500.0,"pid":1,"entry":"a",)" + event + "}\n"; };
    return line(R"("event":"run","version":1)") +
           line(R"("event":"enter","devices":[{"uuid":"GPU-1","name":"H200","bytes":17179869184}])" + program) +
           line(R"("test":")" + test + R"(","event":"lease","declared_bytes":)" + std::to_string(declared) +
                R"(,"bytes":)" + std::to_string(declared) + R"(,"devices":["GPU-1"])") +
           line(R"("test":")" + test +
                R"(","event":"release","evidence":"exact","devices":[{"uuid":"GPU-1","peak_bytes":)" +
                std::to_string(used) + "}]");
  }

  /// What a log says of a test apart from its memory.
  struct About {
    std::string declared_by = "test";
    bool large = false;
  };

  /// `declared` of 0: the class medium. A test without a point in its name is a suite, or the entry itself.
  void ran(const std::string& entry, const std::string& test, std::uint64_t declared, std::uint64_t used,
           const std::string& evidence = "exact", const std::string& result = "passed") {
    ran(entry, test, declared, used, About{test.empty() ? "entry" : "test"}, evidence, result);
  }

  void ran(const std::string& entry, const std::string& test, std::uint64_t declared, std::uint64_t used,
           const About& about, const std::string& evidence = "exact", const std::string& result = "passed") {
    ++pid_;
    const auto begin = [&](const char* event, const char* tenths) -> std::ostream& {
      return log_ << R"({"t":)" << 1000 + pid_ << "." << tenths << R"(,"pid":)" << pid_ << R"(,"entry":")" << entry
                  << R"(","test":")" << test << R"(","event":")" << event << '"';
    };
    begin("enter", "0") << R"(,"devices":[{"uuid":"GPU-1","name":"H200","bytes":)" << 16 * gib
                        << R"(}],"program":"/no/such/)" << entry << R"(","program_bytes":1,"program_modified":1})"
                        << "\n";
    begin("lease", "1") << (about.large ? R"(,"class":"large","whole_devices":true,)" : R"(,"class":"medium",)")
                        << (declared == 0 ? "" : R"("declared_bytes":)" + std::to_string(declared) + ",")
                        << R"("bytes":)"
                        << (about.large     ? 0
                            : declared == 0 ? 8 * gib
                                            : declared)
                        << (about.declared_by.empty() ? "" : R"(,"declared_by":")" + about.declared_by + '"')
                        << R"(,"devices":["GPU-1"],"waited":0})"
                        << "\n";
    begin("release", "9") << R"(,"evidence":")" << evidence << R"(","devices":[{"uuid":"GPU-1","peak_bytes":)" << used
                          << "}]}\n";
    if (test.find('.') != std::string::npos) {
      begin("test", "93") << R"(,"result":")" << result << R"(","seconds":1})"
                          << "\n";
    }
    begin("end", "95") << R"(,"exit":0})"
                       << "\n";
  }

  [[nodiscard]] tests::Ended classify(std::vector<std::string> options) {
    log_.flush();
    options.insert(options.begin(), {"classify", "--test-dir", build_, "--log", path_});
    return tool_.run(options);
  }

  tests::Tool tool_;
  std::string path_ = tool_.folder().path() + "/run.jsonl";
  std::string build_ = tool_.folder().path() + "/build";
  std::ofstream log_{path_};
  int pid_ = 1;
};

TEST_F(ClassifyCommand, leaves_out_running_tests_and_no_others_of_their_entry) {
  const auto pid = std::to_string(os::own_pid());
  const auto line = [&](const std::string& event) {
    log_ << R"({"t":1001.0,"pid":)" + pid + R"(,"entry":"py",)" + event + "}\n";
  };
  line(R"("event":"run","version":1,"host":")" + os::host_name() + R"(","ctest_pid":)" + pid + R"(,"ctest_start":)" +
       std::to_string(os::start_time_of(os::own_pid()).value()));
  line(R"("event":"enter","devices":[{"uuid":"GPU-1","name":"H200","bytes":17179869184}])");
  for (const std::string test : {"test.py::ended", "test.py::runs"}) {
    line(R"("test":")" + test +
         R"(","event":"lease","declared_bytes":1073741824,"bytes":1073741824,"devices":["GPU-1"])");
    if (test == "test.py::ended") {
      line(R"("test":")" + test +
           R"(","event":"release","evidence":"exact","devices":[{"uuid":"GPU-1","peak_bytes":3221225472}])");
      line(R"("event":"test","name":")" + test + R"(","result":"passed","seconds":1)");
    }
  }
  const auto ended = classify({});
  EXPECT_THAT(ended.err, HasSubstr("Left out: tests that have not ended (1)"));
  EXPECT_THAT(ended.out, HasSubstr("1 test: 1 used more than declared"));
}

/// Anybody who can write a log could else write to the terminal of those who read it.
TEST_F(ClassifyCommand, shows_no_control_character_of_a_log) {
  const std::string escape = R"(\u001b[31m\u0007)";
  ran("a" + escape, "Sort.keys" + escape, 2 * gib, 3 * gib);
  ran("b" + escape, "Sort.pairs" + escape, 2 * gib, 20 * gib);
  for (const auto& ended : {classify({}), classify({"--check"})}) {
    EXPECT_THAT(ended.out + ended.err, HasSubstr("Sort.pairs?[31m?"));
    EXPECT_THAT(ended.out + ended.err, Not(testing::ContainsRegex("[\x1b\x07]")));
  }
}

TEST_F(ClassifyCommand, fails_where_no_test_had_a_lease) {
  const auto ended = classify({"--check"});
  EXPECT_EQ(ended.exit_code, tool::to_int(tool::ExitCode::internal_error)) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("no test in these run logs had a lease"));
}

TEST_F(ClassifyCommand, checks_the_newest_run_of_each_test) {
  ran("a", "Sort.keys", 2 * gib, gib);
  const auto logs = tool_.folder().path() + "/logs";
  fs::create_directories(logs);
  std::ofstream{logs + "/old.jsonl"} << earlier("Sort.keys", gib, 3 * gib);
  log_.flush();
  fs::copy(path_, logs + "/new.jsonl");
  EXPECT_EQ(tool_.run({"classify", "--log", logs, "--check"}).exit_code, 0);
  std::ofstream{logs + "/old.jsonl"} << earlier("Sort.pairs", gib, 3 * gib);
  EXPECT_EQ(tool_.run({"classify", "--log", logs, "--check"}).exit_code, tool::to_int(tool::ExitCode::check_failed))
      << "the newest run of this test";
}

TEST_F(ClassifyCommand, checks_no_run_of_a_program_that_has_changed_since_or_is_gone_from_here) {
  const auto program = tool_.folder().path() + "/sort_test";
  const auto log = tool_.folder().path() + "/one.jsonl";
  std::ofstream{program} << "x";
  const auto check = [&](const std::string& host, const std::string& of_program) {
    std::ofstream{log} << R"({"t":400.0,"pid":1,"entry":"a","event":"run","version":1,"host":")" + host + "\"}\n" +
                              earlier("Sort.keys", gib, 3 * gib, of_program).substr(earlier("", 0, 0).find('\n') + 1);
    return tool_.run({"classify", "--log", log, "--check"});
  };
  const auto stamped = [&](std::uint64_t bytes, std::uint64_t later) {
    return R"(,"program":")" + program + R"(","program_bytes":)" + std::to_string(bytes) + R"(,"program_modified":)" +
           std::to_string(os::stamp_of(program).value().modified + later);
  };
  const std::string gone = R"(,"program":"/no/such/program")";
  const auto here = os::host_name();
  const int over = tool::to_int(tool::ExitCode::check_failed);
  const int nothing = tool::to_int(tool::ExitCode::internal_error);
  EXPECT_EQ(check(here, stamped(1, 0)).exit_code, over);
  EXPECT_EQ(check(here, stamped(1, 1)).exit_code, nothing);
  EXPECT_EQ(check(here, gone).exit_code, nothing);
  EXPECT_EQ(check("another-machine", gone).exit_code, over);
  EXPECT_EQ(check(here, "").exit_code, over) << "nobody knows";
  const auto changed = check(here, stamped(2, 0));
  EXPECT_EQ(changed.exit_code, nothing);
  EXPECT_THAT(changed.err, HasSubstr("left out: runs of " + program + ", which has changed since"));
  EXPECT_THAT(changed.err, HasSubstr("so nothing can be checked. Run ctest first"));
}

TEST_F(ClassifyCommand, calls_an_exact_figure_of_a_test_that_failed_exact) {
  ran("sort", "Sort.keys", 2 * gib, 3 * gib, "exact", "failed");
  ran("sort", "Sort.pairs", 2 * gib, 3 * gib, "sampled", "failed");
  const auto out = classify({}).out;
  EXPECT_THAT(out, testing::ContainsRegex("Sort.keys +2 GiB +3 GiB"));
  EXPECT_THAT(out, testing::ContainsRegex("Sort.pairs +2 GiB +at least 3 GiB"));
}

TEST_F(ClassifyCommand, writes_the_same_for_programs) {
  ran("a", "Sort.keys", 8 * gib, gib);
  ran("a", "Sort.pairs", 0, 7 * gib, About{"entry"});
  const auto ended = classify({"--json"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  const auto json = nlohmann::json::parse(ended.out);
  const auto expected = nlohmann::json::parse(R"({
    "version": 1,
    "tests": [{"name": "a: Sort.keys", "entry": "a", "test": "Sort.keys", "verdict": "under", "class": "medium",
               "leased_bytes": 8589934592, "declared_bytes": 8589934592, "measured_bytes": {"H200": 1073741824},
               "exact": true, "runs": 1, "advised_bytes": 1140850688},
              {"name": "a: Sort.pairs", "entry": "a", "test": "Sort.pairs", "verdict": "fits", "class": "medium",
               "leased_bytes": 8589934592, "declared_bytes": null, "measured_bytes": {"H200": 7516192768},
               "exact": true, "runs": 1, "advised_bytes": null}]
  })");
  EXPECT_EQ(json.dump(2), expected.dump(2));
}

TEST_F(ClassifyCommand, prints_nothing_but_a_sum_where_all_tests_fit) {
  ran("a", "Sort.keys", 3 * gib, 3 * gib);
  ran("a", "Sort.pairs", 3 * gib, 3 * gib);
  EXPECT_EQ(classify({}).out, "2 tests: 0 used more than declared, 0 could declare less, 2 declare the right size, 0 "
                              "not known.\n");
}

TEST_F(ClassifyCommand, names_the_tests_whose_use_is_not_known) {
  ran("a", "Sort.keys", 3 * gib, 3 * gib);
  ran("a", "Sort.both", 8 * gib, gib);
  ran("a", "Sort.both", 8 * gib, 2 * gib, "sampled");
  EXPECT_EQ(classify({}).out,
            "2 tests: 0 used more than declared, 0 could declare less, 1 declare the right size, 1 not known.\nNot "
            "known, or only a lower bound is: a: Sort.both\n");
  for (int i = 0; i < 11; ++i) {
    ran("a", "Sort.n" + std::to_string(i), 8 * gib, gib, "sampled");
  }
  EXPECT_THAT(classify({}).out,
              testing::ContainsRegex("12 not known.*: (a: Sort[.][a-z0-9]+, ){9}a: Sort[.][a-z0-9]+, and 2 "
                                     "more \\(--json lists all\\)\n"));
}

TEST_F(ClassifyCommand, checks_the_tests_of_the_programs_that_have_not_changed) {
  const auto logs = tool_.folder().path() + "/logs";
  fs::create_directories(logs);
  std::ofstream{logs + "/0.jsonl"} << earlier("Sort.over", gib, 3 * gib);
  for (const std::string name : {"2", "1"}) {
    const auto program = tool_.folder().path() + "/program" + name;
    std::ofstream{program} << "x";
    const auto modified = std::to_string(os::stamp_of(program).value().modified + 1);
    std::ofstream{logs + "/" + name + ".jsonl"}
        << earlier("Sort.test" + name, gib, 3 * gib,
                   R"(,"program":")" + program + R"(","program_bytes":1,"program_modified":)" + modified);
  }
  const auto ended = tool_.run({"classify", "--log", logs, "--check"});
  EXPECT_EQ(ended.exit_code, tool::to_int(tool::ExitCode::check_failed)) << ended.err;
  const auto left_out = [&](const std::string& name) {
    return "gputest: left out: runs of " + tool_.folder().path() + "/program" + name + ", which has changed since\n";
  };
  EXPECT_EQ(ended.err, left_out("1") + left_out("2"));
  EXPECT_THAT(ended.out, HasSubstr("\n1 test: 1 used more than declared, 0 could"));
}

} // namespace
} // namespace gputest::insights
