// SPDX-License-Identifier: BSD-3-Clause
#include "insights/entry_runs.hpp"

#include "insights/run_summary.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace gputest::insights {
namespace {

/// The text of a log, line by line, a second each.
class Log {
public:
  Log& run() { return line(1, "", "", R"("event":"run","version":1)"); }
  Log& enter(int pid, const std::string& entry, const std::string& kind = "under_a_lease\":false") {
    return line(pid, entry, "", R"("event":"enter","devices":[],")" + kind);
  }
  Log& worker(int pid, const std::string& entry) { return enter(pid, entry, "worker\":true"); }
  Log& child(int pid, const std::string& entry) { return enter(pid, entry, "under_a_lease\":true"); }
  Log& lease(int pid, const std::string& entry, const std::string& test) {
    return line(pid, entry, test, R"("event":"lease","bytes":1,"devices":[],"waited":0)");
  }
  Log& ended(int pid, const std::string& entry, const std::string& test, const std::string& result = "passed") {
    line(pid, entry, test, R"("event":"release","devices":[])");
    return line(pid, entry, test, R"("event":"test","seconds":0.5,"result":")" + result + '"');
  }
  Log& failed(int pid, const std::string& entry, const std::string& test, const std::string& reason) {
    return line(pid, entry, test, R"("event":"test","result":"failed","reason":")" + reason + '"');
  }
  Log& ran(int pid, const std::string& entry, const std::string& test, const std::string& result = "passed") {
    return lease(pid, entry, test).ended(pid, entry, test, result);
  }
  Log& skip(int pid, const std::string& entry) { return line(pid, entry, "", R"("event":"skip","reason":"why")"); }
  Log& end(int pid, const std::string& entry, int exit) {
    return line(pid, entry, "", R"("event":"end","exit":)" + std::to_string(exit));
  }
  Log& stopped(int pid, const std::string& entry, const std::string& test) {
    return line(pid, entry, test, R"("event":"again","text":"needs more")").end(pid, entry, 1);
  }
  Log& signal(int pid, const std::string& entry, int signal) {
    return line(pid, entry, "", R"("event":"end","signal":)" + std::to_string(signal));
  }

  /// ctest's verdict.
  Log& failed(std::set<std::string> names) {
    failed_ = std::move(names);
    return *this;
  }

  [[nodiscard]] RunLog read() const {
    auto log = parse_run_log(text_);
    log.failed = failed_;
    return log;
  }

  /// `<entry> <result>`, and why, of each.
  [[nodiscard]] std::string results() const {
    std::string text;
    for (const auto& result : results_of(read())) {
      text += (text.empty() ? "" : "\n") + result.entry + " " + result.result;
      for (const auto& why : result.why) {
        text += ", " + why;
      }
    }
    return text;
  }

private:
  Log& line(int pid, const std::string& entry, const std::string& test, const std::string& rest) {
    text_ += R"({"t":)" + std::to_string(++time_) + R"(,"pid":)" + std::to_string(pid) + R"(,"entry":")" + entry +
             R"(","test":")" + test + "\"," + rest + "}\n";
    return *this;
  }

  std::string text_;
  int time_ = 100;
  std::optional<std::set<std::string>> failed_;
};

const std::string killed = "killed by a signal or a time limit, or ended by _exit()";

TEST(EntryResults, are_those_of_ctest_with_what_the_log_says_of_them) {
  struct Case {
    std::string what;
    Log log;
    std::string results;
  };
  const std::vector<Case> cases{
      {"TearDownTestSuite() of a worker's case fails",
       Log{}.worker(1, "a").ran(1, "a", "S.a").ran(1, "b", "S.b").failed({"a"}),
       "a failed, at its end, or by a property of its entry such as FAIL_REGULAR_EXPRESSION\nb passed"},
      {"it fails in a process of its own", Log{}.enter(1, "a").ran(1, "a", "S.a").end(1, "a", 1).failed({"a"}),
       "a failed, exit code 1, after its tests passed"},
      {"a case is killed alone, too",
       Log{}.worker(1, "x").ran(1, "x", "S.x").lease(1, "a", "S.a").enter(2, "a").lease(2, "a", "S.a").failed({"a"}),
       "a failed, " + killed + ", in S.a\nx passed"},
      {"a command is killed", Log{}.enter(1, "a").signal(1, "a", 11).failed({"a"}),
       "a failed, signal 11 (Segmentation fault)"},
      {"WILL_FAIL", Log{}.enter(1, "a").ran(1, "a", "S.a", "failed").end(1, "a", 1).failed({}), "a passed"},
      {"an entry of many tests is one",
       Log{}.enter(1, "a").ran(1, "a", "S.a").ran(1, "a", "S.b", "failed").end(1, "a", 1).failed({"a"}),
       "a failed, S.b"},
      {"tests of it say why",
       Log{}
           .enter(1, "a")
           .failed(1, "a", "S.a", "x == 1")
           .failed(1, "a", "S.b", "a: S.b took 2 GiB")
           .end(1, "a", 1)
           .failed({"a"}),
       "a failed, S.a: x == 1, a: S.b took 2 GiB"},
      {"two ranks under a launcher",
       Log{}
           .enter(1, "a")
           .child(2, "a")
           .child(3, "a")
           .ended(2, "a", "S.a", "failed")
           .ended(3, "a", "S.a")
           .end(1, "a", 1)
           .failed({"a"}),
       "a failed, S.a"},
      {"only the last attempt counts",
       Log{}
           .enter(1, "a")
           .ran(1, "a", "S.a", "failed")
           .end(1, "a", 1)
           .enter(2, "a")
           .ran(2, "a", "S.b", "failed")
           .end(2, "a", 1)
           .failed({"a"}),
       "a failed, S.b"},
      {"an earlier attempt failed, and was stopped",
       Log{}
           .enter(1, "a")
           .ran(1, "a", "S.a", "failed")
           .stopped(1, "a", "S.b")
           .enter(2, "a")
           .ran(2, "a", "S.a")
           .end(2, "a", 0)
           .enter(3, "b")
           .stopped(3, "b", "S.c")
           .enter(4, "b")
           .ran(4, "b", "S.c")
           .end(4, "b", 0)
           .failed({"a", "b"}),
       "a failed, S.a, in an earlier attempt\nb failed, in an earlier attempt, at its end, or by a property of its "
       "entry "
       "such as FAIL_REGULAR_EXPRESSION"},
      {"skips",
       Log{}.enter(1, "a").end(1, "a", 77).worker(2, "b").ran(2, "b", "S.b", "skipped").skip(3, "c").failed({}),
       "a skipped\nb skipped\nc skipped"},
      {"what never came to gputest", Log{}.enter(1, "a").end(1, "a", 0).failed({"not_built"}),
       "a passed\nnot_built failed, nothing of it is in the run log"},
  };
  for (const auto& [what, log, results] : cases) {
    EXPECT_EQ(log.results(), results) << what;
  }
}

TEST(EntryResults, are_those_of_the_log_if_ctest_left_none) {
  Log log;
  log.enter(1, "a").ran(1, "a", "S.a").end(1, "a", 0).enter(2, "b").ran(2, "b", "S.b").end(2, "b", 3);
  log.worker(3, "c").ran(3, "c", "S.c").ran(3, "d", "S.d", "failed").enter(4, "d").ran(4, "d", "S.d").end(4, "d", 0);
  log.enter(5, "e").lease(5, "e", "S.e").ran(3, "f", "S.f", "failed").skip(6, "g");
  EXPECT_EQ(log.results(), "a passed\nb failed, exit code 3, after its tests passed\nc passed\nd passed\ne unknown\n"
                           "f failed, S.f\ng skipped");
  const auto sums = summarise(log.read());
  EXPECT_EQ(sums.tests, 7U);
  EXPECT_EQ(sums.unknown, 1U);
}

TEST(EntryResults, have_the_time_that_ctest_says_of_a_killed_test) {
  Log log;
  log.enter(1, "a").lease(1, "a", "S.a").enter(2, "b").ran(2, "b", "S.b").end(2, "b", 1).failed({"a", "b"});
  auto run = log.read();
  EXPECT_EQ(results_of(run).at(0).seconds, -1);
  run.seconds = {{"a", 5.5}, {"b", 1000}};
  EXPECT_EQ(results_of(run).at(0).seconds, 5.5);
  EXPECT_LT(results_of(run).at(1).seconds, 1000) << "the log knows better, without waits";
}

TEST(EntryResults, have_names_of_entry_and_test) {
  EXPECT_EQ(full_name("e", "S.a"), "e: S.a");
  EXPECT_EQ(full_name("e", ""), "e");
  EXPECT_EQ(full_name("", "S.a"), "S.a");
  EXPECT_EQ(full_name("S.a", "S.a"), "S.a");
}

TEST(EntryResults, of_a_session_of_pytest_are_those_of_its_tests) {
  Log log;
  log.run().enter(7, "pytest").ran(7, "pytest", "t.py::a").ran(7, "pytest", "t.py::b", "failed");
  log.lease(7, "pytest", "t.py (fixture data)").ended(7, "pytest", "t.py::c", "skipped").end(7, "pytest", 1);
  log.enter(8, "pytest").ran(8, "pytest", "t.py::d").lease(8, "pytest", "t.py::dies");
  log.enter(9, "pytest").lease(9, "pytest", "t.py::dies_first");
  EXPECT_EQ(log.results(),
            "t.py::a passed\nt.py::b failed, t.py::b\nt.py::c skipped\nt.py::d passed\nt.py::dies unknown\n"
            "t.py::dies_first unknown");
  EXPECT_EQ(summarise(log.read()).tests, 6U);
}

} // namespace
} // namespace gputest::insights
