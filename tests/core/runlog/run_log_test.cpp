// SPDX-License-Identifier: BSD-3-Clause
#include "core/runlog/run_log.hpp"

#include "core/os/file.hpp"
#include "core/os/host.hpp"
#include "core/os/process.hpp"
#include "support/in_child.hpp"
#include "support/suite_test.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::runlog {

namespace {

std::string text_after(const std::string& text) {
  JsonObject object;
  object.text("x", text);
  return nlohmann::json::parse(object.to_string()).at("x").get<std::string>();
}

TEST(JsonObjects, keep_every_character_on_one_line_and_replace_what_is_none) {
  std::string all;
  for (char c = 0; c < 127; ++c) {
    all += c;
  }
  all += "\x7f ü € 😀 </script>";
  EXPECT_EQ(text_after(all), all);
  EXPECT_EQ(text_after("a\xff, cut \xe2\x82"), "a\uFFFD, cut \uFFFD\uFFFD");
  JsonObject object;
  object.text("two\nlines", "a\nb\r\n");
  EXPECT_EQ(object.to_string().find_first_of("\r\n"), std::string::npos) << "a line of the log stays one";
}

TEST(JsonObjects, nest) {
  JsonObject inner;
  inner.number("n", 18446744073709551615U);
  JsonObject outer;
  outer.flag("yes", true).objects("two", {inner, JsonObject{}}).texts("three", {"a", "\""});
  JsonObject all;
  all.members(JsonObject{}).members(outer).members(inner);
  EXPECT_EQ(JsonObject{}.flag("no", false).objects("o", {}).texts("t", {}).members({}).to_string(),
            R"({"no":false,"o":[],"t":[]})");
  EXPECT_EQ(all.to_string(), R"({"yes":true,"two":[{"n":18446744073709551615},{}],)"
                             R"("three":["a","\""],"n":18446744073709551615})");
}

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;
using testing::SizeIs;

std::vector<fs::path> files_in(const std::string& folder) {
  std::vector<fs::path> files;
  if (fs::exists(folder)) {
    files.assign(fs::directory_iterator{folder}, {});
  }
  return files;
}

std::vector<std::string> lines_of(const fs::path& path) {
  std::vector<std::string> lines;
  std::ifstream file{path};
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) {
      lines.push_back(line);
    }
  }
  return lines;
}

/// The events of all logs in a folder.
std::vector<json> logs_in(const std::string& folder) {
  std::vector<json> events;
  for (const auto& file : files_in(folder)) {
    for (const auto& line : lines_of(file)) {
      events.push_back(json::parse(line));
    }
  }
  return events;
}

/// The events of the one log in a folder.
std::vector<json> log_in(const std::string& folder) {
  EXPECT_THAT(files_in(folder), SizeIs(1)) << folder;
  return logs_in(folder);
}

std::vector<std::string> kinds_of(const std::vector<json>& events) {
  std::vector<std::string> kinds;
  for (const auto& event : events) {
    kinds.push_back(event.at("event"));
  }
  return kinds;
}

std::vector<json> only(const std::vector<json>& events, const std::string& kind) {
  std::vector<json> of_kind;
  std::copy_if(events.begin(), events.end(), std::back_inserter(of_kind),
               [&](const json& event) { return event.at("event") == kind; });
  return of_kind;
}

class RunLogs : public tests::SuiteTest {
protected:
  [[nodiscard]] std::string logs() const { return folder() + "/logs"; }

  /// A project of the tests of one suite, an entry each.
  void make_project(const std::string& suite, const std::vector<std::string>& filters) const {
    std::ofstream file{folder() + "/CTestTestfile.cmake"};
    for (const auto& filter : filters) {
      file << "add_test([[" << filter << "]] [[" << path_of(suite) << "]] [[--gtest_filter=" << filter << "]])\n"
           << "set_tests_properties([[" << filter << "]] PROPERTIES ENVIRONMENT \"GPUTEST_TEST=" << filter
           << ";GPUTEST_DEFAULT_LOG=Testing/gputest\")\n";
    }
  }

  [[nodiscard]] tests::Ended run_ctest(const std::vector<std::string>& options) const {
    std::vector<std::string> command{GPUTEST_CTEST, "--test-dir", folder()};
    command.insert(command.end(), options.begin(), options.end());
    return start_program(std::move(command)).finish();
  }
};

TEST_F(RunLogs, say_what_became_of_each_test_of_a_process) {
  set("GPUTEST_LOG", logs());
  set("GPUTEST_TEST", "entry");
  ASSERT_EQ(run("annotated", {"--gtest_filter=NoFixture.with_bytes:Medium.with_too_many_bytes"}).exit_code, 0);
  const auto events = log_in(logs());
  EXPECT_THAT(kinds_of(events), ElementsAre("run", "enter", "skip", "test", "lease", "release", "need", "test", "end"));
  for (const auto& event : events) {
    EXPECT_GT(event.at("t"), 1.7e9);
    EXPECT_EQ(event.at("pid"), events.front().at("pid"));
    EXPECT_EQ(event.at("entry"), "entry");
  }
  EXPECT_EQ(events[0].at("version"), 1);
  EXPECT_EQ(events[0].at("gputest"), GPUTEST_VERSION);
  EXPECT_EQ(events[0].at("host"), os::host_name());
  for (const std::size_t between_tests : {0U, 1U, 8U}) {
    EXPECT_FALSE(events[between_tests].contains("test")) << events[between_tests];
  }
  EXPECT_EQ(events[1].at("devices")[0].at("bytes"), std::uint64_t{4} << 30U);
  EXPECT_EQ(events[3].at("result"), "skipped");
  EXPECT_EQ(events[3].at("reason"), events[2].at("reason"));
  EXPECT_EQ(events[4].at("bytes"), std::uint64_t{1} << 30U);
  EXPECT_EQ(events[4].at("test"), "NoFixture.with_bytes");
  EXPECT_EQ(events[4].at("devices"), json::array({events[1].at("devices")[0].at("uuid")}));
  EXPECT_EQ(events[5].at("test"), "NoFixture.with_bytes");
  EXPECT_EQ(events[5].at("evidence"), "exact");
  EXPECT_EQ(events[5].at("devices")[0].at("peak_bytes"), 0) << "it allocates nothing, and that is known";
  EXPECT_EQ(events[6].at("bytes"), 0);
  EXPECT_EQ(events[6].at("declared_bytes"), std::uint64_t{1} << 30U);
  EXPECT_EQ(events[7].at("result"), "passed");
  EXPECT_EQ(events[8].at("exit"), 0);
}

TEST_F(RunLogs, say_who_declared_the_memory) {
  set("GPUTEST_LOG", logs());
  set("GPUTEST_TEST", "entry");
  ASSERT_EQ(run("annotated", {"--gtest_filter=Some/Parameterised.*/0:Typed/0.with_bytes"}).exit_code, 0);
  const auto events = log_in(logs());
  std::map<std::string, json> declared;
  for (const auto& need : only(events, "need")) {
    declared[need.at("test")] = need.at("declared_by");
  }
  EXPECT_EQ(declared.at("Some/Parameterised.with_bytes/0"), "test");
  EXPECT_EQ(declared.at("Some/Parameterised.says_nothing/0"), "fixture");
}

TEST_F(RunLogs, say_why_a_user_has_skipped_a_test_and_that_one_has_failed) {
  set("GPUTEST_LOG", logs());
  ASSERT_EQ(run("outcomes", {"--gtest_filter=Skipping.first:Failing.fails"}).exit_code, 1);
  std::map<std::string, json> ends;
  for (const auto& event : only(log_in(logs()), "test")) {
    ends[event.at("test")] = event;
  }
  EXPECT_EQ(ends.at("Skipping.first").at("reason"), "of its own accord");
  EXPECT_EQ(ends.at("Failing.fails").at("result"), "failed");
  EXPECT_EQ(only(log_in(logs()), "end").at(0).at("exit"), 1);
  EXPECT_EQ(only(log_in(logs()), "end").at(0).at("entry"), fs::path{path_of("outcomes")}.filename().string())
      << "no entry's name";
}

TEST_F(RunLogs, name_who_made_a_test_wait) {
  set("GPUTEST_LOG", logs());
  auto holder = start_holder();
  const auto holder_pid = holder.pid();
  auto waiting = start("annotated", {"--gtest_filter=TypeParameterised*:Some/TypeParameterised*"});
  const auto waiting_pid = waiting.pid();
  waiting.wait_for_err(" waits for ");
  static_cast<void>(holder.finish());
  ASSERT_EQ(waiting.finish().exit_code, 0);
  const auto events = logs_in(logs());
  const auto waits = only(events, "wait");
  ASSERT_THAT(waits, SizeIs(1));
  EXPECT_EQ(waits[0].at("what"), "3 GiB");
  EXPECT_EQ(waits[0].at("blockers")[0].at("pid"), holder_pid);
  EXPECT_EQ(waits[0].at("blockers")[0].at("lease_bytes"), std::uint64_t{3} << 30U);
  for (const auto& lease : only(events, "lease")) {
    if (lease.at("pid") == waiting_pid) {
      EXPECT_GE(lease.at("waited"), 1.0);
    }
  }
}

TEST_F(RunLogs, are_one_file_for_all_processes_of_a_ctest) {
  make_project("annotated",
               {"NoFixture.with_bytes", "NoFixture.says_nothing", "Small.says_nothing", "Typed/0.with_bytes"});
  const auto ended = run_ctest({"-j4"});
  ASSERT_EQ(ended.exit_code, 0) << ended.out;
  const auto events = log_in(folder() + "/Testing/gputest");
  const auto runs = only(events, "run");
  ASSERT_THAT(runs, SizeIs(1));
  EXPECT_EQ(runs[0].at("jobs"), 4);
  EXPECT_EQ(runs[0].at("folder").get<std::string>(), fs::canonical(folder()).string());
  EXPECT_THAT(
      files_in(folder() + "/Testing/gputest").front().filename().string(),
      testing::EndsWith("-" + runs[0].at("ctest_start").dump() + "-" + runs[0].at("ctest_pid").dump() + ".jsonl"));
  std::set<int> pids;
  for (const auto& event : events) {
    pids.insert(event.at("pid").get<int>());
  }
  EXPECT_THAT(pids, SizeIs(4));
  EXPECT_THAT(only(events, "end"), SizeIs(4));
  struct stat status {};
  ASSERT_EQ(::stat(files_in(folder() + "/Testing/gputest").front().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
}

TEST_F(RunLogs, stay_one_file_for_a_worker_that_outlives_its_ctest) {
  fs::create_directory(logs());
  const auto exit_code = tests::in_child([this] {
    os::set_ctest_of_process(1); // which is none: a log is named after the process that makes it
    configure(logs(), "one");
    write("first", {});
    const auto child = ::fork(); // so that the name of a new file would be another one
    if (child == 0) {
      configure(logs(), "two");
      write("last", {});
      ::_exit(0);
    }
    int status = 0;
    return ::waitpid(child, &status, 0) == child ? status : 1;
  });
  EXPECT_EQ(exit_code, 0);
  const auto events = log_in(logs());
  EXPECT_THAT(kinds_of(events), ElementsAre("run", "first", "last"));
  EXPECT_EQ(events.back().at("entry"), "two");
}

TEST_F(RunLogs, are_a_file_of_its_own_for_a_process_without_ctest_and_none_in_a_folder_of_ctest_s) {
  fs::create_directory(logs());
  std::array<int, 2> names{};
  ASSERT_EQ(::pipe(names.data()), 0);
  const auto exit_code = tests::in_child([&] {
    os::set_ctest_of_process(1); // which is none
    configure("Testing/gputest", "one");
    if (::chdir(folder().c_str()) != 0) {
      return 3;
    }
    write("first", {});
    if (fs::exists("Testing/gputest")) {
      return 1;
    }
    configure(logs(), "one");
    write("first", {});
    const auto name = std::to_string(os::start_time_of(::getpid()).value()) + "-" + std::to_string(::getpid());
    return ::write(names[1], name.data(), name.size()) == static_cast<ssize_t>(name.size()) ? 0 : 2;
  });
  EXPECT_EQ(exit_code, 0);
  std::array<char, 100> name{};
  const auto size = ::read(names[0], name.data(), name.size());
  ASSERT_GT(size, 0);
  ::close(names[0]);
  ::close(names[1]);
  const auto files = files_in(logs());
  ASSERT_THAT(files, SizeIs(1));
  EXPECT_THAT(files[0].filename().string(),
              testing::EndsWith("-" + std::string{name.data(), static_cast<std::size_t>(size)} + ".jsonl"));
  EXPECT_THAT(files[0].filename().string(), testing::MatchesRegex("run-[0-9a-f]{8}-.*"));
  EXPECT_THAT(kinds_of(log_in(logs())), ElementsAre("run", "first"));
  EXPECT_FALSE(log_in(logs())[0].contains("ctest_pid"));
}

TEST_F(RunLogs, are_where_the_user_says_or_nowhere_whatever_the_entry_says) {
  make_project("annotated", {"Small.says_nothing"});
  set("GPUTEST_LOG", logs());
  ASSERT_EQ(run_ctest({}).exit_code, 0);
  EXPECT_THAT(files_in(logs()), SizeIs(1));
  set("GPUTEST_LOG", "off");
  ASSERT_EQ(run_ctest({}).exit_code, 0);
  EXPECT_THAT(files_in(logs()), SizeIs(1));
  EXPECT_FALSE(fs::exists(folder() + "/Testing/gputest"));
  set("GPUTEST_LOG", "relative/path");
  const auto refused = run_ctest({"--output-on-failure"});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_EQ(tests::count(refused.out, "gputest: the run log"), 0U) << "it is said once, by whoever needs the settings";
}

TEST_F(RunLogs, that_cannot_be_written_are_mentioned_once_and_fail_nothing) {
  set("GPUTEST_LOG", "/proc/none");
  const auto ended = run("annotated", {"--gtest_filter=Small.says_nothing:NoFixture.*"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(tests::count(ended.err, "gputest: the run log cannot be written to /proc/none"), 1U) << ended.err;
  set("GPUTEST_ENTRY", "by_output");
  const auto judged = run("annotated", {"--gtest_filter=Small.says_nothing"});
  EXPECT_EQ(judged.exit_code, 0);
  EXPECT_EQ(judged.err, "") << "CTest judges it";
}

TEST_F(RunLogs, are_kept_of_twenty_runs) {
  set("GPUTEST_LOG", logs());
  fs::create_directory(logs());
  for (int i = 0; i < 25; ++i) {
    const fs::path file = logs() + "/run-" + std::to_string(i) + ".jsonl";
    std::ofstream{file} << "{}\n";
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours{i + 1});
  }
  std::ofstream{logs() + "/notes.txt"} << "of the user's";
  ASSERT_EQ(run("annotated", {"--gtest_filter=Small.says_nothing"}).exit_code, 0);
  EXPECT_THAT(files_in(logs()), SizeIs(21));
  EXPECT_TRUE(fs::exists(logs() + "/notes.txt"));
  EXPECT_TRUE(fs::exists(logs() + "/run-18.jsonl"));
  EXPECT_FALSE(fs::exists(logs() + "/run-19.jsonl"));
}

/// Writes numbered lines, and says on `said` that each is written, until it is killed.
[[noreturn]] void write_on(const os::LineFile& file, int said) {
  const auto pid = static_cast<std::uint64_t>(::getpid());
  const std::string padding(600, 'x'); // lines that cross pages
  for (std::uint64_t i = 0;; ++i) {
    file.append(JsonObject{}.seconds("t", 1).number("pid", pid).number("i", i).text("padding", padding).to_string());
    static_cast<void>(!::write(said, "+", 1));
  }
}

TEST_F(RunLogs, have_whole_lines_of_processes_that_are_killed_while_others_write) {
  const os::LineFile shared{logs(), "run-shared.jsonl"};
  ASSERT_TRUE(shared.create());
  std::size_t writers = 0;
  for (int round = 0; round < 15; ++round) {
    std::array<int, 2> said{};
    ASSERT_EQ(::pipe(said.data()), 0);
    std::vector<pid_t> running(3);
    for (auto& writer : running) {
      writer = tests::start_child([&]() -> int { write_on(shared, said[1]); });
      ++writers;
    }
    ::close(said[1]);
    std::array<char, 30> each_a_line{};
    for (const pid_t writer : running) {
      ASSERT_GT(::read(said[0], each_a_line.data(), each_a_line.size()), 0);
      ::kill(writer, SIGKILL);
      ASSERT_EQ(tests::end_of(writer), -SIGKILL);
    }
    ::close(said[0]);
  }
  std::map<int, std::set<std::uint64_t>> written;
  std::size_t torn = 0;
  for (const auto& line : lines_of(shared.path())) {
    const auto event = json::parse(line, nullptr, false);
    if (event.is_discarded()) {
      ++torn;
      EXPECT_EQ(line.find("{\"t\":", 1), std::string::npos) << "two lines in one: " << line;
    } else {
      written[event.at("pid").get<int>()].insert(event.at("i").get<std::uint64_t>());
    }
  }
  EXPECT_LE(torn, writers) << "at most the last line of each";
  EXPECT_FALSE(written.empty());
  for (const auto& [pid, lines] : written) {
    EXPECT_EQ(lines.size(), *lines.rbegin() + 1) << pid << " has written all up to its last";
  }
}

} // namespace

} // namespace gputest::runlog
