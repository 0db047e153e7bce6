// SPDX-License-Identifier: BSD-3-Clause
#include "support/tool.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

namespace gputest::insights {
namespace {

using Times = std::vector<std::pair<std::string, double>>;

/// The log of a run at -j1 in which each entry ran for so many seconds.
void write_log(const std::string& path, const Times& times) {
  std::filesystem::create_directories(std::filesystem::path{path}.parent_path());
  std::ofstream log{path};
  int pid = 0;
  double t = 1000;
  for (const auto& [entry, seconds] : times) {
    const auto line = [&, name = entry](const std::string& rest) {
      log << R"({"t":)" << std::to_string(t) << R"(,"pid":)" << pid << R"(,"entry":")" << name << "\"," << rest
          << "}\n";
    };
    ++pid;
    line(R"("event":"enter","devices":[],"waited":0)");
    t += seconds;
    line(R"("event":"end","exit":0)");
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream{text};
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

/// A folder in which ctest knows some entries, and what a run of them left.
class PlanCommand : public ::testing::Test {
protected:
  PlanCommand() {
    std::ofstream tests{folder_ + "/CTestTestfile.cmake"};
    Times times;
    for (int i = 0; i < 6; ++i) {
      const auto name = "solver." + std::to_string(i);
      tests << "add_test(" << name << " false)\n"
            << "set_tests_properties(" << name << " PROPERTIES LABELS gpu ENVIRONMENT_MODIFICATION "
            << "\"GPUTEST_ENTRY=set:ctest;GPUTEST_MEMORY=set:7GiB\")\n";
      times.emplace_back(name, 2);
    }
    tests << "add_test(large false)\n"
          << "set_tests_properties(large PROPERTIES LABELS gpu ENVIRONMENT_MODIFICATION "
          << "\"GPUTEST_ENTRY=set:ctest;GPUTEST_MEMORY=set:large\")\n"
          << "add_test(host false)\n";
    write_log(log_path_, times);
    std::filesystem::create_directories(folder_ + "/Testing/Temporary");
  }

  [[nodiscard]] tests::Ended plan(std::vector<std::string> options) const {
    options.insert(options.begin(), {"plan", "--test-dir", folder_});
    return tool_.run(options);
  }

  [[nodiscard]] nlohmann::json json_of(const std::vector<std::string>& options) const {
    auto with_json = options;
    with_json.insert(with_json.begin(), "--json");
    const auto ended = plan(with_json);
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    return nlohmann::json::parse(ended.out);
  }

  /// What selects in ctest the tests of a shard.
  [[nodiscard]] std::string numbers_of(std::vector<std::string> options) const {
    options.emplace_back("--numbers");
    const auto lines = lines_of(plan(options).out);
    EXPECT_EQ(lines.size(), 1U);
    return lines.empty() ? "" : lines.front();
  }

  tests::Tool tool_;
  std::string folder_ = tool_.folder().path();
  std::string log_path_ = folder_ + "/Testing/gputest/run-1.jsonl";
};

} // namespace

TEST_F(PlanCommand, leaves_ctests_log_of_the_last_run_as_it_is) {
  const auto path = folder_ + "/Testing/Temporary/LastTest.log";
  std::ofstream{path} << "what the tests wrote";
  EXPECT_EQ(plan({"--shards", "2"}).exit_code, 0);
  std::ifstream file{path};
  EXPECT_EQ((std::string{std::istreambuf_iterator<char>{file}, {}}), "what the tests wrote");
}

TEST_F(PlanCommand, splits_alike_before_and_after_the_run_of_a_shard) {
  std::filesystem::remove_all(folder_ + "/Testing");
  std::ofstream{folder_ + "/CTestTestfile.cmake", std::ios::app} << "add_test(long sleep 0.3)\n";
  std::multiset<std::string> names;
  for (const std::string shard : {"1", "2", "3"}) {
    const std::vector<std::string> options{"--shards", "3", "--shard", shard};
    const auto of_shard = lines_of(plan(options).out);
    names.insert(of_shard.begin(), of_shard.end());
    tool_.start_program({GPUTEST_CTEST, "--test-dir", folder_, "-I", numbers_of(options)}).finish();
    Times times; // that tests under gputest leave
    for (const auto& name : of_shard) {
      times.emplace_back(name, 10 * std::stoi(shard));
    }
    write_log(folder_ + "/Testing/gputest/run-" + shard + ".jsonl", times);
  }
  EXPECT_EQ(names.size(), 9U);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 9U);
}

TEST_F(PlanCommand, refuses_another_split_than_the_one_it_is_asked_for) {
  const auto print = json_of({"--shards", "2"})["fingerprint"].get<std::string>();
  const std::vector<std::string> options{"--shards", "2", "--shard", "1", "--fingerprint", print};
  EXPECT_EQ(plan(options).exit_code, 0);
  std::ofstream{folder_ + "/CTestTestfile.cmake", std::ios::app} << "add_test(new true)\n";
  const auto ended = plan(options);
  EXPECT_EQ(ended.exit_code, 70);
  EXPECT_EQ(ended.out, "");
  EXPECT_NE(ended.err.find("this is another split: its fingerprint is "), std::string::npos) << ended.err;
}

TEST_F(PlanCommand, a_clean_up_that_nothing_sets_up_for_ties_no_tests_and_is_in_the_shard_of_each) {
  std::ofstream tests{folder_ + "/CTestTestfile.cmake"};
  Times times;
  for (const auto* name : {"a", "b", "c", "d"}) {
    tests << "add_test(" << name << " true)\nset_tests_properties(" << name
          << " PROPERTIES FIXTURES_REQUIRED workers)\n";
    times.emplace_back(name, 1);
  }
  tests << "add_test(ends true)\nset_tests_properties(ends PROPERTIES FIXTURES_CLEANUP workers)\n";
  times.emplace_back("ends", 0);
  tests.close();
  const auto kept = folder_ + "/kept.jsonl";
  write_log(kept, times);
  std::multiset<std::string> names;
  for (const std::string shard : {"1", "2", "3", "4"}) {
    const std::vector<std::string> options{"--times", kept, "--shards", "4", "--shard", shard};
    const auto of_shard = lines_of(plan(options).out);
    EXPECT_EQ(of_shard.size(), 2U);
    names.insert(of_shard.begin(), of_shard.end());
    const auto ran = tool_.start_program({GPUTEST_CTEST, "--test-dir", folder_, "-I", numbers_of(options)}).finish();
    EXPECT_NE(ran.out.find("out of 2\n"), std::string::npos) << ran.out;
  }
  EXPECT_EQ(names, (std::multiset<std::string>{"a", "b", "c", "d", "ends", "ends", "ends", "ends"}));
}

TEST_F(PlanCommand, tests_that_would_not_run_take_no_time_of_a_shard) {
  std::ofstream tests{folder_ + "/CTestTestfile.cmake"};
  const auto kept = folder_ + "/kept.jsonl";
  write_log(kept, {{"long", 3}, {"a", 1}, {"b", 1}, {"c", 1}});
  const auto add = [&](const std::string& name, const std::string& properties) {
    tests << "add_test(" << name << " false)\nset_tests_properties(" << name << " PROPERTIES LABELS gpu " << properties
          << ")\n";
  };
  add("long", "COST 0");
  add("large", "ENVIRONMENT_MODIFICATION \"GPUTEST_ENTRY=set:ctest;GPUTEST_MEMORY=set:large\"");
  add("disabled", "DISABLED ON");
  for (const auto* name : {"a", "b", "c"}) {
    add(name, "COST 0");
  }
  tests.close();
  const auto shards = json_of({"--times", kept, "--shards", "2"})["shards"];
  EXPECT_DOUBLE_EQ(shards[0]["work_s"], 3);
  EXPECT_DOUBLE_EQ(shards[1]["work_s"], 3);
  EXPECT_EQ(shards[0]["not_run"].get<int>() + shards[1]["not_run"].get<int>(), 2);
  std::string text = plan({"--shards", "2", "--shard", "1"}).err;
  text += plan({"--shards", "2", "--shard", "2"}).err;
  EXPECT_NE(text.find("would not run"), std::string::npos) << text;
}

TEST_F(PlanCommand, shows_each_shard_and_of_how_many_tests_it_has_no_time) {
  const auto timed = plan({"--times", log_path_, "--shards", "2"}).out;
  EXPECT_NE(timed.find("8 tests\nTests without a time in " + log_path_ + ": 2; 2.0 s each is assumed.\n\nSHARD"),
            std::string::npos)
      << timed;
  EXPECT_NE(timed.find("\nfingerprint of the split: "), std::string::npos) << timed;
  EXPECT_NE(plan({"--shards", "2"}).out.find("All tests count alike."), std::string::npos);
}

TEST_F(PlanCommand, numbers_select_the_same_tests_in_ctest) {
  for (const std::string shard : {"1", "2", "11"}) { // the last has no test
    const std::vector<std::string> options{"--times", log_path_, "--shards", "11", "--shard", shard};
    const auto names = lines_of(plan(options).out);
    auto ctest = tool_.start_program({GPUTEST_CTEST, "--test-dir", folder_, "-N", "-I", numbers_of(options)});
    std::set<std::string> selected;
    for (const auto& line : lines_of(ctest.finish().out)) {
      if (const auto colon = line.find(": "); line.find("Test ") < 3 && colon != std::string::npos) {
        selected.insert(line.substr(colon + 2));
      }
    }
    EXPECT_EQ(selected, std::set<std::string>(names.begin(), names.end()));
  }
  EXPECT_EQ(plan({"--shards", "1", "--shard", "1", "--numbers", "--", "-C", "Debug"}).out, "0,0,0,1,2,3,4,5,6,7,8\n");
}

TEST_F(PlanCommand, wrong_arguments_are_named) {
  struct Case {
    std::vector<std::string> options;
    int exit_code;
    std::string message;
  };
  const std::vector<Case> cases{
      {{"--shards", "2", "--shard", "3"}, 64, "--shard 3 of --shards 2: write a number from 1 to 2"},
      {{"--shard", "1"}, 64, "--shards"},
      {{"--shards", "2", "--shard", "1", "--json"}, 64, "--shard excludes --json"},
      {{"--shards", "2", "--shard", "1", "--numbers", "--", "-R", "x"}, 64, "write only -C CONFIG after '--'"},
      {{"--shards", "2", "--shard", "1", "--numbers", "--", "-C", "Debug", "-L", "x"}, 64, "write only -C CONFIG"},
      {{"--shards", "2", "--shard", "1", "--numbers", "--", "-C"}, 64, "write only -C CONFIG"},
      {{"--shards", "2", "--numbers"}, 64, "--numbers requires --shard"},
      {{"--shards", "0"}, 64, "0"},
      {{"--shards", "2", "--shard", "0"}, 64, "0"},
      {{}, 64, "write --shards with the number of machines"},
      {{"--shards", "2", "--times", "/nowhere"}, 78, "; write the path of a run log"},
      {{"--shards", "2", "--times", "/usr"}, 78, "/usr is a folder; write the path"},
      {{"--shards", "2", "--times", "/dev/null"}, 78, "/dev/null is no run log"},
      {{"--shards", "2", "--", "-R", "nothing_matches"}, 70, "ctest lists no test"},
      {{"--shards", "2", "--", "--preset", "of_no_project"}, 70, "To see why: ctest --test-dir"},
  };
  for (const auto& [options, exit_code, message] : cases) {
    const auto ended = plan(options);
    EXPECT_EQ(ended.exit_code, exit_code) << message << "\n" << ended.out << ended.err;
    EXPECT_NE(ended.err.find(message), std::string::npos) << ended.err;
  }
}

TEST_F(PlanCommand, says_of_a_suite_without_times_that_its_work_is_not_known) {
  EXPECT_TRUE(json_of({"--shards", "2"})["shards"][0]["work_s"].is_null());
  const auto text = plan({"--shards", "2"}).out;
  EXPECT_EQ(text.find(" s\n"), std::string::npos) << text;
  EXPECT_EQ(plan({"--shards", "2", "--shard", "1"}).err.find("s of work"), std::string::npos);
}

TEST_F(PlanCommand, a_folder_without_tests_is_an_error) {
  const auto ended = tool_.run({"plan", "--shards", "2", "--test-dir", folder_ + "/Testing"});
  EXPECT_EQ(ended.exit_code, 70);
  EXPECT_NE(ended.err.find("Write --test-dir with the folder in which you start ctest"), std::string::npos)
      << ended.err;
  const auto here = tool_
                        .start_program({"/bin/sh", "-c", "cd \"$1\" && exec \"$2\" plan --shards 2", "sh",
                                        folder_ + "/Testing", tests::Tool::path()})
                        .finish();
  EXPECT_NE(here.err.find("ctest lists no test in " + folder_ + "/Testing. "), std::string::npos) << here.err;
}

} // namespace gputest::insights
