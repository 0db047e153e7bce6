// SPDX-License-Identifier: BSD-3-Clause
#include "support/suite_test.hpp"

#include "core/ledger/ledger.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <thread>

namespace gputest::tests {

SuiteTest::SuiteTest() {
  set("GPUTEST_DEVICES", "simulated:1x4GiB,context=0");
  set("GPUTEST_DIR", ledger());
  set("GPUTEST_RUN_MODE", "serial");
}

ChildProcess SuiteTest::start(const std::string& suite, std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), path_of(suite));
  return {std::move(arguments), environment_};
}

std::string SuiteTest::path_of(const std::string& suite) {
  return suite.front() == '/' ? suite : std::string{GPUTEST_SUITES} + "/" + suite;
}

ChildProcess SuiteTest::start_holder() const {
  auto holder = start("annotated", {"--gtest_filter=Medium.with_bytes"});
  holder.wait_for_out("@body");
  return holder;
}

Ended SuiteTest::run(const std::string& suite, std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), path_of(suite));
  if (const auto entry = environment_.find("GPUTEST_ENTRY"); entry != environment_.end() && !entry->second.empty()) {
    arguments.insert(arguments.begin(), {GPUTEST_ENTRY_PROGRAM, "--watch"});
  }
  return start_program(std::move(arguments)).finish();
}

std::map<std::string, Report> SuiteTest::reports_of(const std::string& suite, const std::string& filter) const {
  const std::string file = folder() + "/report.json";
  const Ended ended = run(suite, {"--gtest_filter=" + filter, "--gtest_output=json:" + file});
  SCOPED_TRACE(ended.out + ended.err);
  return read_reports(file);
}

std::map<std::string, Report> SuiteTest::read_reports(const std::string& file) {
  std::map<std::string, Report> reports;
  const auto document = nlohmann::json::parse(std::ifstream{file});
  for (const auto& of_suite : document.at("testsuites")) {
    for (const auto& test : of_suite.at("testsuite")) {
      if (test.at("status") != "RUN") {
        continue;
      }
      Report& report = reports[of_suite.at("name").get<std::string>() + "." + test.at("name").get<std::string>()];
      report.skipped = test.at("result") == "SKIPPED";
      report.memory = test.value("gputest_memory", "");
      report.devices = test.value("gputest_devices", "");
      report.overuse = test.value("gputest_overuse", "");
      report.out_of_memory = test.value("gputest_out_of_memory", "");
      report.peak = test.value("gputest_peak_bytes", "");
      report.evidence = test.value("gputest_peak_evidence", "");
      report.left = test.value("gputest_left_bytes", "");
      for (const auto& failure : test.value("failures", nlohmann::json::array())) {
        report.failures += failure.at("failure").get<std::string>();
      }
    }
  }
  return reports;
}

std::vector<ledger::Record> SuiteTest::entries() const {
  auto all = ledger::Ledger{ledger(), nullptr}.records();
  all.erase(std::remove_if(all.begin(), all.end(), [](const ledger::Record& entry) { return !entry.alive; }),
            all.end());
  return all;
}

policy::Claim SuiteTest::claim_of(const ChildProcess& process) const {
  for (const auto& entry : entries()) {
    if (entry.pid == process.pid()) {
      return entry.claim;
    }
  }
  return {};
}

void SuiteTest::wait_for(const ChildProcess& process, policy::Stage stage) const {
  while (claim_of(process).stage != stage) {
    std::this_thread::yield();
  }
}

std::vector<std::string> tests_run(const std::string& out) {
  const std::string mark = "[ RUN      ] ";
  std::vector<std::string> tests;
  std::istringstream lines{out};
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, mark.size(), mark) == 0) {
      tests.push_back(line.substr(mark.size()));
    }
  }
  return tests;
}

std::size_t count(const std::string& whole, const std::string& text) {
  std::size_t found = 0;
  for (auto at = whole.find(text); at != std::string::npos; at = whole.find(text, at + text.size())) {
    ++found;
  }
  return found;
}

} // namespace gputest::tests
