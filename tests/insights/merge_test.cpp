// SPDX-License-Identifier: BSD-3-Clause
#include "insights/merge.hpp"

#include "insights/run_log.hpp"
#include "insights/text_file.hpp"
#include "support/tool.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/stat.h>

namespace gputest::insights {
namespace {

using testing::HasSubstr;

constexpr std::string_view signs = "-n+sd"; // as TestVerdict has them

/// A run: its time, or two between which it is, and for each result a name and a sign. `10 a+ b-`, `10~12 a+`.
JunitRun run_of(const std::string& text) {
  std::istringstream words{text};
  JunitRun run;
  std::string time;
  words >> time;
  run.begun = {std::stod(time), std::stod(time.substr(time.find('~') + 1)), true};
  run.file = time + ".xml";
  for (std::string word; words >> word;) {
    auto& result = run.results.emplace_back();
    result.name = word.substr(0, word.size() - 1);
    result.verdict = static_cast<TestVerdict>(signs.find(word.back()));
  }
  return run;
}

/// A suite of tests whose names have one letter; capital ones set up a fixture.
std::vector<SuiteTest> suite_of(const std::string& names) {
  std::vector<SuiteTest> suite;
  for (const char name : names) {
    suite.emplace_back().name = name;
    suite.back().of_fixture = std::isupper(name) != 0;
  }
  return suite;
}

/// Each test with the sign of its verdict, or with the kind of its problem.
std::string text_of(const Merged& merged) {
  std::string text;
  for (const auto* const tests : {&merged.tests, &merged.unknown}) {
    for (const auto& test : *tests) {
      text += (text.empty() ? "" : " ") + test.name +
              (test.problem.empty() ? std::string{signs[static_cast<std::size_t>(test.verdict)]} : ":" + test.label);
      EXPECT_TRUE(test.problem.empty() || test.has_failed()) << test.name;
    }
  }
  return text;
}

TEST(MergeResults, gives_each_test_one_result_or_says_why_not) {
  struct Case {
    std::string suite;
    std::vector<std::vector<std::string>> shards; ///< of each its runs
    std::string merged;
  };
  const std::vector<Case> cases{
      {"abc", {{"1 a+ c-"}, {"1 bs"}}, "a+ bs c-"},
      {"abc", {{"1 an bd"}, {"1 c+"}}, "an bd c+"},
      {"ab", {{"1 a+"}, {}}, "a+ b:Missing"},
      {"a", {}, "a:Missing"},
      {"ab", {{"1 a+ b+"}, {"1 b+"}}, "a+ b:Duplicate"},
      {"ab", {{"1 a+ b+"}, {"2 b-"}}, "a+ b:Contradictory"},
      {"a", {{"1 a+ a+"}}, "a:Duplicate"},
      {"a", {{"1 a+ x+ y-"}}, "a+ x:Unknown y:Unknown"},
      // Runs of one shard, in any order. The last that did not skip it counts.
      {"ab", {{"2 b+", "1 a+ b-"}}, "a+ b+"},
      {"ab", {{"1 a+ b+", "2 b-"}}, "a+ b-"},
      {"a", {{"1 a-", "2 as", "3 ad"}}, "a-"},
      {"a", {{"1 as", "2 a+"}}, "a+"},
      {"a", {{"1 as", "2 ad"}}, "ad"},
      {"a", {{"1 a+", "2 an"}}, "an"},
      // It is not known which of these runs was the last: a failure counts.
      {"a", {{"1 a+", "1 a-"}}, "a:Contradictory"},
      {"a", {{"1 a+", "1 a+"}}, "a+"},
      {"a", {{"1 a-", "1 as"}}, "a-"},
      {"a", {{"1 as", "1 ad"}}, "as"},
      {"ab", {{"1 b+", "1 a+ b-"}}, "a+ b:Contradictory"},
      {"ab", {{"1~3 a+ b-", "2~4 b+"}}, "a+ b:Contradictory"},
      {"a", {{"1~3 a-", "3~4 a+"}}, "a:Contradictory"},
      {"a", {{"1~3 a+", "2~5 a-", "4~6 a+"}}, "a:Contradictory"},
      {"a", {{"1~3 a-", "2~5 a+", "4~6 a+"}}, "a+"},
      {"a", {{"1~3 a-", "2~5 a-", "6~7 a+"}}, "a+"},
      {"a", {{"1~3 a-", "2~5 an"}}, "a-"},
      // ctest adds tests of fixtures to each shard: the worst result counts.
      {"Fa", {{"1 F+ a+"}, {"1 F+"}}, "F+ a+"},
      {"Fa", {{"1 F+ a+"}, {"1 F-"}}, "F- a+"},
      {"Fa", {{"1 F- a+", "2 F+"}, {"1 Fs"}}, "F+ a+"},
      // Two tests with one name: in the order of the suite, and only together.
      {"aa", {{"1 a+ a-"}}, "a+ a-"},
      {"aa", {{"1 a+ a-", "2 a+ a+"}}, "a+ a+"},
      {"aa", {{"1 a+ a-", "2 a+"}}, "a:Ambiguous a:Ambiguous"},
      {"aa", {{"1 a+"}, {"1 a+"}}, "a:Ambiguous a:Ambiguous"},
  };
  for (const auto& [suite, shards, expected] : cases) {
    std::vector<Shard> read;
    for (const auto& shard : shards) {
      std::transform(shard.begin(), shard.end(), std::back_inserter(read.emplace_back()), run_of);
    }
    EXPECT_EQ(text_of(merge_results(suite_of(suite), read)), expected);
  }
}

/// Merges one random history, and compares it with what is known of it.
void check_history(std::mt19937& random) {
  const auto below = [&](std::size_t end) { return std::uniform_int_distribution<std::size_t>{0, end - 1}(random); };
  const std::string names = "abcdFG";
  const std::string suite = names.substr(below(3));
  std::vector<Shard> shards(1 + below(4));
  std::map<std::string, std::map<std::size_t, std::vector<char>>> history; // results by test and shard, in time
  std::size_t results = 0;
  for (std::size_t shard = 0; shard < shards.size(); ++shard) {
    for (auto time = 1 + below(3); time < 4; ++time) {
      auto text = std::to_string(time);
      for (const char name : names) {
        if (below(shards.size() + 1) == 0) { // about as many as there are tests: some lost, some twice
          const char sign = signs[below(signs.size())];
          history[{name}][shard].push_back(sign);
          text += std::string{" "} + name + sign;
          ++results;
        }
      }
      shards[shard].push_back(run_of(text));
    }
    std::shuffle(shards[shard].begin(), shards[shard].end(), random);
  }
  std::string expected;
  for (const auto& test : suite_of(suite)) {
    std::string last; // of each shard
    for (const auto& [shard, signs_of_it] : history[test.name]) {
      char decisive = signs_of_it.back();
      for (const char sign : signs_of_it) {
        decisive = sign == '+' || sign == '-' || sign == 'n' ? sign : decisive;
      }
      last += decisive;
    }
    std::sort(last.begin(), last.end(), [](char a, char b) { return signs.find(a) < signs.find(b); });
    expected += (expected.empty() ? "" : " ") + test.name;
    if (last.empty()) {
      expected += ":Missing";
    } else if (last.size() > 1 && !test.of_fixture) {
      expected += last.front() == last.back() ? ":Duplicate" : ":Contradictory";
    } else {
      expected += last.front();
    }
  }
  const auto merged = merge_results(suite_of(suite), shards);
  std::size_t kept = 0;
  for (const auto& test : merged.tests) {
    kept += test.attempts.size();
  }
  std::size_t unknown = 0;
  for (const auto& [name, of_shards] : history) {
    for (const auto& [shard, of_shard] : of_shards) {
      unknown += suite.find(name) == std::string::npos ? of_shard.size() : 0;
    }
  }
  EXPECT_EQ(text_of(merged).substr(0, expected.size()), expected);
  EXPECT_EQ(kept + unknown, results);
  EXPECT_EQ(merged.unknown.size(), unknown);
}

TEST(MergeResults, lose_no_test_and_count_none_twice_in_ten_thousand_random_histories) {
  for (unsigned seed = 0; seed < 10'000 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random{seed};
    check_history(random);
  }
}

class MergeCommand : public ::testing::Test {
protected:
  void write(const std::string& name, const std::string& text) const {
    const auto path = folder_ + "/" + name;
    std::filesystem::create_directories(std::filesystem::path{path}.parent_path());
    write_text(path, text);
  }

  /// A suite of real tests, whose list is in suite.json.
  void write_suite(const std::string& text) const {
    write("CTestTestfile.cmake", text);
    write("suite.json", ctest({"--show-only=json-v1"}).out);
  }

  [[nodiscard]] tests::Ended ctest(std::vector<std::string> words) const {
    words.insert(words.begin(), {GPUTEST_CTEST, "--test-dir", folder_});
    return tool_.start_program(std::move(words)).finish();
  }

  /// In the folder of the files.
  [[nodiscard]] tests::Ended merge(std::vector<std::string> words) const {
    words.insert(words.begin(), {"/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", folder_, tests::Tool::path(), "merge"});
    return tool_.start_program(std::move(words)).finish();
  }

  [[nodiscard]] std::string text(const std::string& name) const { return read_text(folder_ + "/" + name); }

  tests::Tool tool_;
  std::string folder_ = tool_.folder().path();
};

/// From `% tests passed` to ctest's last words, without the time.
std::string summary_in(const std::string& out) {
  std::istringstream lines{out.substr(std::min(out.size(), out.rfind('\n', out.find("% tests passed")) + 1))};
  std::string text;
  for (std::string line; std::getline(lines, line) && line.rfind("Errors while", 0) != 0;) {
    const bool of_times = line.find("Time Summary") != std::string::npos || line.find("sec*proc") != std::string::npos;
    text += of_times || line.empty() || line.rfind("Total Test time", 0) == 0 ? "" : line + "\n";
  }
  return text;
}

TEST_F(MergeCommand, two_shards_have_the_summary_and_the_exit_status_of_one_ctest) {
  write_suite(R"(add_test(passes true)
add_test([==[a "name" <&> of its own]==] true)
add_test(fails false)
add_test("no utf-8 )"
              "\xFF"
              R"(" true)
add_test(disabled true)
set_tests_properties(disabled PROPERTIES DISABLED ON)
add_test(skipped sh -c "exit 77")
set_tests_properties(skipped PROPERTIES SKIP_RETURN_CODE 77)
add_test(is_not_there /nowhere/program)
add_test(lacks_a_file true)
set_tests_properties(lacks_a_file PROPERTIES REQUIRED_FILES /nowhere/file)
add_test(sets_up false)
set_tests_properties(sets_up PROPERTIES FIXTURES_SETUP F)
add_test(needs_it true)
set_tests_properties(needs_it PROPERTIES FIXTURES_REQUIRED F)
add_test(needs_it_too true)
set_tests_properties(needs_it_too PROPERTIES FIXTURES_REQUIRED F)
add_test("control\t\n\r characters)"
              "\x1B"
              R"(" true)
)");
  const auto whole = ctest({"--output-junit", folder_ + "/whole.xml"});
  static_cast<void>(ctest({"--output-junit", folder_ + "/1.xml", "-I", "0,0,0,1,3,5,7,9,10"}));
  static_cast<void>(ctest({"--output-junit", folder_ + "/2.xml", "-I", "0,0,0,2,4,6,8,11,12"})); // ctest adds sets_up
  for (const std::vector<std::string>& shards : {std::vector<std::string>{"whole.xml"}, {"1.xml", "2.xml"}}) {
    std::vector<std::string> words{"--suite", "suite.json", "--junit", "merged.xml"};
    words.insert(words.end(), shards.begin(), shards.end());
    const auto merged = merge(words);
    EXPECT_EQ(summary_in(merged.out), summary_in(whole.out));
    EXPECT_EQ(merged.err, "");
    EXPECT_EQ(merged.exit_code, whole.exit_code);
    EXPECT_THAT(text("merged.xml"), HasSubstr(R"(tests="12" failures="6" disabled="1" skipped="1")"));
    const auto junit = text("merged.xml");
    std::size_t failures = 0; // also of what ctest's own file calls skipped
    for (auto at = junit.find("<failure"); at != std::string::npos; at = junit.find("<failure", at + 1)) {
      ++failures;
    }
    EXPECT_EQ(failures, 6U);
    EXPECT_EQ(merge({"--suite", "suite.json", "merged.xml"}).exit_code, whole.exit_code); // it is a shard, too
  }
  static_cast<void>(ctest({"--output-junit", folder_ + "/passed.xml", "-R", "passes"}));
  write("one.json", R"({"tests":[{"name":"passes"}]})");
  const auto passed = merge({"--suite", "one.json", "passed.xml"});
  EXPECT_EQ(passed.exit_code, 0);
  EXPECT_EQ(summary_in(passed.out), "100% tests passed, 0 tests failed out of 1\n");
}

TEST_F(MergeCommand, a_rerun_in_the_folder_of_a_shard_keeps_the_first_failure) {
  write_suite("add_test(passes true)\nadd_test(late test -e [==[" + folder_ + "/now]==])\n" +
              "add_test(never sh -c \"echo its words; exit 1\")\n");
  std::filesystem::create_directory(folder_ + "/shard");
  static_cast<void>(ctest({"--output-junit", folder_ + "/shard/first.xml"}));
  auto first = text("shard/first.xml"); // the second may begin in the same second
  write("shard/first.xml", first.replace(first.find('2', first.find("timestamp=")), 4, "2001"));
  write("now", "");
  static_cast<void>(ctest({"--rerun-failed", "--output-junit", folder_ + "/shard/again.xml"}));
  const auto merged = merge({"--suite", "suite.json", "--junit", "merged.xml", "shard"});
  EXPECT_EQ(merged.exit_code, 8);
  EXPECT_EQ(summary_in(merged.out), "67% tests passed, 1 tests failed out of 3\n"
                                    "The following tests passed when run again:\n\t  2 - late (failed 1 of 2 times)\n"
                                    "The following tests FAILED:\n\t  3 - never (Failed)\n");
  const auto junit = text("merged.xml");
  EXPECT_THAT(junit, testing::ContainsRegex("<testcase name=\"late\".*status=\"run\".*again.xml.*<flakyFailure"));
  EXPECT_THAT(junit, testing::ContainsRegex("name=\"never\".*<rerunFailure.*<system-out>its words"));
}

TEST_F(MergeCommand, what_is_lost_there_twice_or_unreadable_fails_by_name) {
  write("suite.json", R"({"tests":[{"name":"a"},{"name":"b"}]})");
  const auto junit = [](const std::string& cases) { return "<testsuite>" + cases + "</testsuite>"; };
  const std::string a = R"(<testcase name="a" status="run"/>)";
  const std::string b = R"(<testcase name="b" status="run"/>)";
  write("a.xml", junit(a));
  write("b.xml", junit(b));
  write("c.xml", junit(R"(<testcase name="c&#10;d" status="run"/>)"));
  write("cut.xml", junit(b).substr(0, 40));
  write("other.xml", "<html><testcase name='b' status='run'/></html>");
  write("deep.xml", std::string(30'000'000, '<')); // no element
  std::string nested;
  for (int i = 0; i < 1'000'000; ++i) {
    nested += "<testsuite>";
  }
  write("nested.xml", nested);
  write("entities.xml", R"(<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>)" +
                            junit(R"(<testcase name="b" status="run"><system-out>&b;</system-out></testcase>)"));
  write("news.xml", junit(R"(<testcase name="b" status="a new one"/>)"));
  write("empty_status.xml", junit(R"(<testcase name="b" status=""/>)"));
  write("no_status.xml", junit(R"(<testcase name="b"/>)"));
  write("two_statuses.xml", junit(R"(<testcase name="b" status="run"><skipped message="Unable"/></testcase>)"));
  write("with_fifo/b.xml", junit(b));
  ASSERT_EQ(::mkfifo((folder_ + "/with_fifo/x.xml").c_str(), 0600), 0);
  write("two.xml", junit(b) + junit(""));
  write("inner.xml", junit(b + junit("")));
  write("zero.xml", junit(b) + std::string(1, '\0') + junit(b));
  write("count.xml", "<testsuite failures='1'>" + b + "</testsuite>");
  write("folder/readme", "");
  struct Case {
    std::vector<std::string> shards;
    int exit_code;
    std::string message;
  };
  const std::vector<Case> cases{
      {{"a.xml", "b.xml"}, 0, ""},
      {{"a.xml", "entities.xml"}, 0, ""},
      {{"a.xml"}, 8, "Missing: b: no shard has a result of it\n"},
      {{"a.xml", "b.xml", "b.xml"}, 8, "Duplicate: b: these shards have a result of it: b.xml, b.xml\n"},
      {{"a.xml", "b.xml", "c.xml"}, 8, "Unknown: c d: c.xml has a result of it, and the suite has no such test\n"},
      {{"a.xml", "b.xml", "cut.xml"}, 8, "cut.xml is no JUnit file, or a part of one: "},
      {{"a.xml", "b.xml", "deep.xml"}, 8, "deep.xml is no JUnit file, or a part of one: "},
      {{"a.xml", "b.xml", "nested.xml"}, 8, "nested.xml is no JUnit file, or a part of one: "},
      {{"a.xml", "b.xml", "other.xml"}, 8, "other.xml is no JUnit file: it has <html> instead of <testsuite>\n"},
      {{"a.xml", "b.xml", "two.xml"}, 8, "two.xml is no JUnit file, or several: "},
      {{"a.xml", "b.xml", "zero.xml"}, 8, "zero.xml is no JUnit file, or "},
      {{"a.xml", "b.xml", "inner.xml"}, 8, "inner.xml has a <testsuite> in a <testsuite>"},
      {{"a.xml", "b.xml", "count.xml"}, 8, "count.xml has failures, but no test that failed"},
      {{"a.xml", "b.xml", "gone.xml"}, 8, "gone.xml cannot be read: No such file or directory\n"},
      {{"a.xml", "b.xml", "folder"}, 8, "folder has no JUnit file (*.xml). Run ctest with --output-junit"},
      {{"a.xml", "with_fifo"}, 8, "x.xml is no regular file\n"},
      {{"a.xml", "b.xml", "with_fifo/x.xml"}, 8, "x.xml is no regular file\n"},
      {{"a.xml", "b.xml", "/dev/zero"}, 8, "/dev/zero is no regular file\n"},
      {{"a.xml", "news.xml"}, 8, ""},
      {{"a.xml", "empty_status.xml"}, 8, ""},
      {{"a.xml", "no_status.xml"}, 8, ""},
      {{"a.xml", "two_statuses.xml"}, 8, ""},
  };
  for (const auto& [shards, exit_code, message] : cases) {
    std::vector<std::string> words{"--suite", "suite.json", "--junit", "merged.xml"};
    words.insert(words.end(), shards.begin(), shards.end());
    const auto merged = merge(words);
    EXPECT_EQ(merged.exit_code, exit_code) << shards.back();
    EXPECT_THAT(merged.err, HasSubstr(message)) << shards.back();
    EXPECT_EQ(text("merged.xml").find("<failure") != std::string::npos, exit_code == 8) << shards.back();
    EXPECT_EQ(merged.out.find(" 0 tests failed") == std::string::npos, exit_code == 8) << merged.out;
  }
  EXPECT_EQ(merge({"--suite", "suite.json", "--junit", "/nowhere/x.xml", "a.xml", "b.xml"}).exit_code, 70);
}

TEST_F(MergeCommand, reads_what_pytest_writes) {
  write("suite.txt",
        "a/test_b.py::test_ok\na/test_b.py::T::test_p[x::y/z.py]\na/test_b.py::test_both\n\n3 tests collected\n");
  const auto junit = [](const std::string& teardown) {
    return R"(<testsuites><testsuite name="pytest" tests="3" timestamp="2026-11-23T22:16:18.019319+00:00">)"
           R"(<testcase classname="a.test_b" name="test_both" time="0.001"/>)" // pytest-xdist reports others in between
           R"(<testcase classname="a.test_b" name="test_ok" time="0.001"/>)"
           R"(<testcase classname="a.test_b.T" name="test_p[x::y/z.py]" time="0.001"><skipped message="no"/></testcase>)" +
           teardown + "</testsuite></testsuites>";
  };
  write("passed.xml", junit(""));
  write("failed.xml",
        junit(R"(<testcase classname="a.test_b" name="test_both"><error message="in teardown"/></testcase>)"));
  EXPECT_EQ(merge({"--suite", "suite.txt", "passed.xml"}).exit_code, 0);
  const auto failed = merge({"--suite", "suite.txt", "failed.xml"});
  EXPECT_EQ(failed.exit_code, 8);
  EXPECT_THAT(failed.out, HasSubstr("3 - a.test_b.test_both (in teardown)\n"));
}

TEST_F(MergeCommand, knows_the_tests_of_pytest_by_its_rules_for_names) {
  const std::string list =
      "test_sort.py::test_sort\nreadme.txt::readme.txt\na/readme.txt::readme.txt\ntest_r.py::test_it\n";
  write("suite.txt", list + "\n= warnings summary =\ntest_sort.py:2\n  UserWarning: std::string\n4 tests collected\n");
  const auto junit = [](const std::string& more) {
    return R"(<testsuites><testsuite name="pytest"><testcase classname="test_sort" name="test_sort"/>)"
           R"(<testcase classname="readme.txt" name="readme.txt"/><testcase classname="a.readme.txt" name="readme.txt"/>)" +
           more + "</testsuite></testsuites>";
  };
  const std::string it =
      R"(<testcase classname="test_r" name="test_it"><skipped type="pytest.skip" message="collection skipped"/></testcase>)";
  const std::string module =
      R"(<testcase classname="" name="a.test_gpu"><skipped message="collection skipped">(no such library)</skipped></testcase>)";
  write("passed.xml", junit(it + module + module));
  write("lost.xml",
        junit(R"(<testcase classname="" name="test_r"><skipped message="collection skipped"/></testcase>)"));
  write("error.xml",
        junit(it + R"(<testcase classname="" name="a.test_gpu"><error message="collection failure"/></testcase>)"));
  const auto passed = merge({"--suite", "suite.txt", "passed.xml"});
  EXPECT_EQ(passed.exit_code, 0) << passed.out << passed.err;
  EXPECT_THAT(merge({"--suite", "suite.txt", "lost.xml"}).out, HasSubstr("4 - test_r.test_it (Missing)\n"));
  EXPECT_THAT(merge({"--suite", "suite.txt", "error.xml"}).out, HasSubstr("5 - a.test_gpu (Unknown)\n"));
}

TEST_F(MergeCommand, knows_the_tests_of_other_collectors_and_those_with_a_group_of_xdist) {
  write("suite.txt",
        "sub/t.yaml::hello/x\nsub/t.yaml::a.py::b\ntest_g.py::test_a[x@y]\ntest_g.py::test_b\n\n4 tests\n");
  const auto junit = [](const std::string& more) {
    return R"(<testsuites><testsuite name="pytest"><testcase classname="sub.t.yaml" name="hello/x"/>)"
           R"(<testcase classname="sub.t.yaml.a.py" name="b"/><testcase classname="test_g" name="test_a[x@y]@g@2"/>)" +
           more + "</testsuite></testsuites>";
  };
  write("passed.xml", junit(R"(<testcase classname="test_g" name="test_b@g"/>)"));
  write("other.xml", junit(R"(<testcase classname="test_g" name="test_bb@g"/>)"));
  write("twice.xml",
        junit(R"(<testcase classname="test_g" name="test_b"/><testcase classname="test_g" name="test_b@g"/>)"));
  EXPECT_EQ(merge({"--suite", "suite.txt", "passed.xml"}).exit_code, 0);
  EXPECT_THAT(merge({"--suite", "suite.txt", "other.xml"}).out,
              HasSubstr("4 - test_g.test_b (Missing)\n\t  6 - test_g.test_bb@g (Unknown)\n"));
  EXPECT_THAT(merge({"--suite", "suite.txt", "twice.xml"}).out, HasSubstr("4 - test_g.test_b (Duplicate)\n"));
}

TEST_F(MergeCommand, compares_times_of_different_zones) {
  write("suite.txt", "test_sum.py::test_all\n");
  const auto junit = [](const std::string& time, const std::string& content) {
    return "<testsuite timestamp='" + time + "'><testcase classname='test_sum' name='test_all'>" + content +
           "</testcase></testsuite>";
  };
  write("shard/1.xml", junit("2026-11-20T22:00:00.100000+01:00", ""));
  write("shard/2.xml", junit("2026-11-20T21:00:04.100000+00:00", "<failure message='wrong sum'/>"));
  const auto failed = merge({"--suite", "suite.txt", "shard"});
  EXPECT_THAT(failed.out, HasSubstr("1 - test_sum.test_all (wrong sum)\n"));
  write("shard/3.xml", junit("2026-11-21T02:30:05+05:30", ""));
  EXPECT_EQ(merge({"--suite", "suite.txt", "shard"}).exit_code, 0);
}

TEST_F(MergeCommand, one_log_of_all_shards_is_what_report_and_plan_read) {
  for (const std::string shard : {"1", "2"}) { // the same numbers of processes and the same device, on two machines
    const auto name = "test_" + shard;
    const auto line = [&](const std::string& t, const std::string& rest) {
      return R"({"t":)" + t + R"(,"pid":7,"entry":")" + name + "\"," + rest + "}\n";
    };
    write(
        "shard_" + shard + "/Testing/gputest/run.jsonl",
        line("1000.0", R"("event":"run","version":1,"folder":"/nowhere","host":"node)" + shard + '"') +
            line("1001.0", R"("event":"enter","waited":0,"devices":[{"uuid":"GPU-0","name":"simulated","bytes":9}])") +
            line("1001.5", R"("event":"lease","bytes":1,"devices":["GPU-0"],"waited":0)") + "damaged\n" +
            line("100" + shard + ".9", R"("event":"end","exit":0)"));
    write("shard_" + shard + "/tests.xml",
          "<testsuite><testcase name='" + name + "' status='" + (shard == "1" ? "run" : "fail") + "'/></testsuite>");
  }
  write("suite.json", R"({"tests":[{"name":"test_1"},{"name":"test_2"},{"name":"lost"}]})");
  EXPECT_EQ(merge({"--suite", "suite.json", "--log", "merged.jsonl", "shard_1", "shard_2"}).exit_code, 8);
  const auto report = tool_.run({"report", "--log", folder_ + "/merged.jsonl", "--output", folder_ + "/page.html"});
  EXPECT_THAT(report.out, HasSubstr("3 tests: 1 passed, 2 failed, 0 skipped in 2.9 s"));
  EXPECT_THAT(text("page.html"), testing::AllOf(HasSubstr("node1/GPU-0"), HasSubstr("node2/GPU-0")));
  const auto github = merge({"--suite", "suite.json", "--format", "github", "shard_1", "shard_2"});
  EXPECT_THAT(github.out, HasSubstr("\n::error title=test_2::Failed\n"));
  EXPECT_THAT(github.out, HasSubstr("\n::error title=lost::no shard has a result of it"));
  EXPECT_THAT(github.out, HasSubstr("\n### 2 of 3 tests failed\n"));
  const auto log = parse_run_log(text("merged.jsonl"));
  EXPECT_EQ(log.host, "node1, node2");
  EXPECT_EQ(log.processes.size(), 2U);
  EXPECT_NE(log.processes[0].pid, log.processes[1].pid);
  write("suite/CTestTestfile.cmake", "add_test(test_1 true)\nadd_test(test_2 true)\n");
  const auto plan =
      tool_.run({"plan", "--test-dir", folder_ + "/suite", "--times", folder_ + "/merged.jsonl", "--shards", "1"});
  EXPECT_THAT(plan.out, HasSubstr("2.8 s")) << plan.err; // 0.9 s and 1.9 s

  const auto without = merge({"--suite", "suite.json", "--log", "none.jsonl", "shard_1/tests.xml"});
  EXPECT_EQ(without.exit_code, 70);
  EXPECT_THAT(without.err, HasSubstr("--log none.jsonl: no shard is a folder with a run log. Write folders"));
}

TEST_F(MergeCommand, junit_says_what_a_test_leased_and_took_of_which_device_in_how_many_attempts) {
  const auto line = [](const std::string& t, const std::string& pid, const std::string& rest) {
    return R"({"t":)" + t + R"(,"pid":)" + pid + R"(,"entry":"sort",)" + rest + "}\n";
  };
  write("shard/Testing/gputest/run.jsonl",
        line("1000", "1", R"("event":"run","version":1,"folder":"/nowhere","host":"node")") +
            line("1001", "1", R"("event":"lease","bytes":5,"devices":["GPU-0"],"waited":0)") +
            line("1002", "1", R"("event":"again","text":"no room","attempt":"1")") +
            line("1003", "2", R"("event":"lease","bytes":7,"devices":["GPU-1"],"waited":0)") +
            line("1004", "2", R"("event":"release","evidence":"exact","devices":[{"uuid":"GPU-1","peak_bytes":6}])"));
  write("shard/tests.xml",
        "<testsuite><testcase name='sort' status='run'/><testcase name='copy' status='run'/></testsuite>");
  write("suite.json", R"({"tests":[{"name":"sort"},{"name":"copy"}]})");
  EXPECT_EQ(merge({"--suite", "suite.json", "--junit", "merged.xml", "shard"}).exit_code, 0);
  const auto merged = text("merged.xml");
  for (const std::string property :
       {R"("gputest_lease_bytes" value="7")", R"("gputest_peak_bytes" value="6")", R"("gputest_device" value="GPU-1")",
        R"("gputest_attempts" value="2")", R"("gputest_peak_evidence" value="exact")",
        R"("shard" value="shard/tests.xml")"}) {
    EXPECT_THAT(merged.substr(0, merged.find("</testcase>")), HasSubstr("<property name=" + property + "/>"));
  }
  EXPECT_THAT(merged.substr(merged.find("</testcase>")), testing::Not(HasSubstr("gputest_")));
}

TEST_F(MergeCommand, wrong_arguments_are_named) {
  write("suite.json", "{}");
  write("shard.json", "{\"tests\": [");
  write("empty", "\n");
  write("counts", "test_s.py: 5\n");
  write("shard.xml", "<testsuite/>");
  struct Case {
    std::vector<std::string> options;
    int exit_code;
    std::string message;
  };
  const std::vector<Case> cases{
      {{}, 64, "write --suite with the list that 'ctest --show-only=json-v1' prints"},
      {{"shard.xml"}, 64, "write --suite"},
      {{"--suite", "suite.json"}, 64, "the JUnit file or the folder of each shard"},
      {{"--suite", "gone", "shard.xml"}, 70, "gone cannot be read"},
      {{"--suite", "suite.json", "shard.xml"},
       70,
       "suite.json cannot be used as --suite: it is not the list of tests that 'ctest --show-only=json-v1' prints\n"},
      {{"--suite", "shard.json", "shard.xml"}, 70, "shard.json cannot be used as --suite: it is not the list"},
      {{"--suite", "empty", "shard.xml"}, 70, "empty has no test. Write --suite with a file"},
      {{"--suite", "counts", "shard.xml"}, 70, "write 'pytest --collect-only --verbosity=-1'"},
  };
  for (const auto& [options, exit_code, message] : cases) {
    const auto ended = merge(options);
    EXPECT_EQ(ended.exit_code, exit_code) << message << "\n" << ended.out << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(message));
  }
}

} // namespace
} // namespace gputest::insights
