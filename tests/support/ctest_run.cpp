// SPDX-License-Identifier: BSD-3-Clause
#include "support/ctest_run.hpp"

#include "core/os/user_folder.hpp"
#include "support/child_process.hpp"

#include <filesystem>
#include <regex>
#include <sstream>

#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gputest::tests {

namespace fs = std::filesystem;

void wait_for_end_of(pid_t pid) {
  const int end = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (end >= 0) {
    pollfd ended{end, POLLIN, 0};
    ::poll(&ended, 1, -1);
    ::close(end);
  }
}

pid_t number_after(ChildProcess& process, const std::string& word) {
  process.wait_for_out(word);
  return static_cast<pid_t>(std::stol(process.read_line()));
}

Runners runners_of_next_case(ChildProcess& ctest) {
  ctest.wait_for_out("@process ");
  std::istringstream numbers{ctest.read_line()};
  Runners runners;
  numbers >> runners.worker >> runners.supervisor;
  return runners;
}

std::string workers_folder() { return os::user_folder() + "/workers"; }

std::vector<std::string> folders_of(pid_t ctest) {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator{workers_folder()}) {
    if (entry.path().filename().string().rfind(std::to_string(ctest) + "-", 0) == 0) {
      found.push_back(entry.path());
    }
  }
  return found;
}

std::string meeting_folder_of(pid_t ctest) {
  for (const auto& file : fs::recursive_directory_iterator{folders_of(ctest).at(0)}) {
    if (file.path().filename() == "executable") {
      return file.path().parent_path();
    }
  }
  return {};
}

std::map<std::string, Result> results_of(const std::string& out) {
  static const std::regex start{R"( *Start +([0-9]+): (\S+).*)"};
  static const std::regex end{R"(.*Test +#[0-9]+: (\S+) \.*\**([^.]*?) +[0-9.]+ sec.*)"};
  static const std::regex output{R"(([0-9]+): ?(.*))"};
  std::map<std::string, Result> results;
  std::map<std::string, std::string> names; // by numbers
  std::istringstream lines{out};
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, match, start)) {
      names[match[1]] = match[2];
    } else if (std::regex_match(line, match, end)) {
      auto word = match[2].str();
      results[match[1]].word = word.erase(0, word.find_first_not_of(' '));
      ++results[match[1]].times;
    } else if (std::regex_match(line, match, output) && names.count(match[1]) == 1) {
      auto& result = results[names[match[1]]];
      result.output += match[2].str() + "\n";
      if (const auto text = match[2].str(); text.compare(0, 9, "@process ") == 0) {
        result.processes.push_back(text.substr(9, text.find(' ', 9) - 9));
      }
    }
  }
  return results;
}

CTestRun::CTestRun() : environment_{bare_environment()} {
  environment_["GPUTEST_DEVICES"] = "simulated:1x4GiB,context=0";
  environment_["GPUTEST_DIR"] = folder_.path() + "/ledger";
  environment_["OF_ALL"] = "yes";
}

void CTestRun::add(const std::string& filter, const std::string& name, const std::vector<std::string>& arguments,
                   const std::string& environment, const std::string& properties, const std::string& executable) {
  ++count_;
  const auto entry = name.empty() ? filter : name;
  entries_ += "add_test([=[" + entry + "]=] \"" ENTRY_PROGRAM "\" \"" + executable + "\" \"--gtest_filter=" + filter +
              "\" --gtest_also_run_disabled_tests";
  for (const auto& argument : arguments) {
    entries_ += " \"" + argument + "\"";
  }
  entries_ += ")\nset_tests_properties([=[" + entry +
              "]=] PROPERTIES ENVIRONMENT \"GPUTEST_ENTRY=ctest;GPUTEST_TEST=" + entry + ";" + environment +
              "\" SKIP_RETURN_CODE 77 " + properties + ")\n";
}

void CTestRun::let_cases_meet(const std::optional<std::string>& properties) {
  EXPECT_EQ(::mkfifo(path("meeting").c_str(), 0600), 0);
  set("MEET_AT", path("meeting"));
  if (properties) {
    add("Plain.meets_the_other", "", {}, "", *properties);
    add("Plain.meets_the_first", "", {}, "", *properties);
  }
}

void CTestRun::add_command(const std::string& name, const std::vector<std::string>& command,
                           const std::string& properties) {
  ++count_;
  entries_ += "add_test(" + name;
  for (const auto& word : command) {
    entries_ += " \"" + word + "\"";
  }
  entries_ += ")\n";
  if (!properties.empty()) {
    entries_ += "set_tests_properties(" + name + " PROPERTIES " + properties + ")\n";
  }
}

std::vector<std::string> CTestRun::command_of_ctest(std::vector<std::string> arguments) const {
  folder_.write("CTestTestfile.cmake", entries_, 0644);
  arguments.insert(arguments.begin(), {CTEST, "--test-dir", folder_.path(), "-V"});
  return arguments;
}

ChildProcess CTestRun::start_ctest(std::vector<std::string> arguments) const {
  return ChildProcess{command_of_ctest(std::move(arguments)), environment_};
}

std::map<std::string, Result> CTestRun::run(const std::vector<std::string>& arguments) const {
  auto ctest = start_ctest(arguments);
  return results_of(ctest.finish().out);
}

} // namespace gputest::tests
