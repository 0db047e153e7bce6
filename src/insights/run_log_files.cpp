// SPDX-License-Identifier: BSD-3-Clause
#include "insights/run_log_files.hpp"

#include "insights/text_file.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace gputest::insights {

namespace {

namespace fs = std::filesystem;

RunLog read(const fs::path& path) {
  const auto text = read_text(path.string());
  RunLog log;
  try {
    log = parse_run_log(text);
  } catch (const Error& error) {
    throw Error{path.string() + ": " + error.what()};
  }
  if (log.events == 0) {
    throw Error{path.string() + " is no run log: no line of it is one of gputest's"};
  }
  return log;
}

void mention_unreadable(const RunLogFile& file, std::vector<std::string>& problems) {
  if (const auto lines = file.log.unreadable_lines; lines > 0) {
    problems.push_back((lines == 1 ? "1 line" : std::to_string(lines) + " lines") + " of " + file.path +
                       " that cannot be read");
  }
}

} // namespace

std::vector<RunLogFile> read_run_logs(const std::string& where, std::vector<std::string>& problems) {
  std::error_code error;
  if (!fs::is_directory(where, error)) {
    if (!fs::exists(where, error)) {
      throw Error{"there is no run log in " + where +
                  ". Run the tests with ctest, and write --test-dir with the folder in which ctest was started, or "
                  "--log with a log or a folder of logs"};
    }
    std::vector<RunLogFile> log{{where, read(where)}};
    mention_unreadable(log.front(), problems);
    return log;
  }
  std::vector<RunLogFile> logs;
  for (const auto& entry : fs::directory_iterator{where}) {
    const auto& path = entry.path();
    if (path.extension() != ".jsonl" || !entry.is_regular_file(error)) {
      continue;
    }
    try {
      logs.push_back({path.string(), read(path)});
      mention_unreadable(logs.back(), problems);
    } catch (const Error& unreadable) {
      problems.emplace_back(unreadable.what());
    }
  }
  if (logs.empty()) {
    throw Error{"there is no run log in " + where + (problems.empty() ? "" : " that can be read: " + problems.front()) +
                ". Run the tests with ctest first"};
  }
  std::sort(logs.begin(), logs.end(),
            [](const RunLogFile& a, const RunLogFile& b) { return a.log.begun > b.log.begun; });
  return logs;
}

} // namespace gputest::insights
