// SPDX-License-Identifier: BSD-3-Clause
#include "insights/run_log_files.hpp"

#include "core/os/host.hpp"
#include "core/os/process.hpp"
#include "core/settings/settings.hpp"
#include "insights/text_file.hpp"
#include "tool/table.hpp"

#include <gputest/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>

namespace gputest::insights {

namespace {

namespace fs = std::filesystem;

/// Finds what still runs, if the ctest of the run is a process of this machine.
void find_running(RunLog& log) {
  log.running = log.ctest_pid != 0 && log.host == os::host_name() &&
                os::start_time_of(static_cast<pid_t>(log.ctest_pid)) == log.ctest_start;
  if (!log.running) {
    return;
  }
  log.ended = std::chrono::duration<double>{std::chrono::system_clock::now().time_since_epoch()}.count();
  const auto find = [&log](auto& all) {
    for (auto& one : all) {
      one.running = one.open_ended && os::state_of(static_cast<pid_t>(one.pid)) != os::ProcessState::ended;
      one.ended = one.running ? log.ended : one.ended;
    }
  };
  find(log.processes);
  find(log.leases);
}

RunLog read(const std::string& path) {
  const auto text = read_text(path);
  RunLog log;
  try {
    log = parse_run_log(text);
  } catch (const Error& error) {
    throw Error{path + ": " + error.what()};
  }
  if (log.events == 0) {
    throw Error{path + " is no run log: no line of it is one of gputest's"};
  }
  log.path = path;
  find_running(log);
  return log;
}

void mention(const std::string& problem) { fmt::print(stderr, "gputest: left out: {}\n", tool::printable(problem)); }

} // namespace

std::vector<RunLog> read_run_logs(const std::string& where) {
  std::error_code error;
  if (!fs::exists(where, error)) {
    throw Error{"there is no run log in " + where +
                ". Run the tests with ctest, and write --test-dir with the folder in which ctest was started, or "
                "--log with a log or a folder of logs"};
  }
  std::vector<RunLog> logs;
  std::string why_none;
  if (!fs::is_directory(where, error)) {
    logs.push_back(read(where));
  } else {
    for (const auto& path : files_in(where, ".jsonl")) {
      if (!fs::is_regular_file(path, error)) {
        continue;
      }
      try {
        logs.push_back(read(path));
      } catch (const Error& unreadable) {
        why_none = std::string{" that can be read: "} + unreadable.what();
        mention(unreadable.what());
      }
    }
  }
  if (logs.empty()) {
    throw Error{"there is no run log in " + where + why_none + ". Run the tests with ctest first"};
  }
  for (const auto& log : logs) {
    if (const auto lines = log.unreadable_lines; lines > 0) {
      mention((lines == 1 ? "1 line" : std::to_string(lines) + " lines") + " of " + log.path + " that cannot be read");
    }
  }
  std::sort(logs.begin(), logs.end(), [](const RunLog& a, const RunLog& b) { return a.begun > b.begun; });
  return logs;
}

tool::RunByCtest ran_without_a_log(const std::string& folder, const std::string& log) {
  const bool has_none =
      log.empty() && files_in(settings::chosen_log_folder().value_or(folder + "/Testing/gputest"), ".jsonl").empty();
  return has_none ? tool::run_by_ctest(folder) : tool::RunByCtest::unknown;
}

std::vector<RunLog> logs_of(const std::string& folder, const std::string& log) {
  const auto chosen = log.empty() ? settings::chosen_log_folder() : std::nullopt;
  auto logs = read_run_logs(chosen ? *chosen : log.empty() ? folder + "/Testing/gputest" : log);
  if (chosen) {
    std::error_code none;
    const auto own = fs::weakly_canonical(folder, none);
    const auto is_other = [&](const RunLog& log_of) { return fs::weakly_canonical(log_of.folder, none) != own; };
    if (!std::all_of(logs.begin(), logs.end(), is_other)) {
      logs.erase(std::remove_if(logs.begin(), logs.end(), is_other), logs.end());
    }
  }
  return logs;
}

} // namespace gputest::insights
