// SPDX-License-Identifier: BSD-3-Clause
#include "insights/ctest_cost_data.hpp"

#include "core/os/file.hpp"
#include "insights/text_file.hpp"

#include <gputest/error.hpp>

#include <filesystem>
#include <sstream>

namespace gputest::insights {

namespace {

namespace fs = std::filesystem;

/// A log of ctest's.
struct LastLog {
  std::string path;
  os::FileStamp stamp;
};

/// The newest in the folder of ctest's own files of a run.
std::optional<LastLog> last_log_in(const fs::path& folder) {
  std::optional<LastLog> newest;
  std::error_code error;
  for (fs::directory_iterator file{folder, error}, end; !error && file != end; file.increment(error)) {
    const auto name = file->path().filename().string();
    if (name != "LastTest.log" && (name.rfind("LastTest_", 0) != 0 || file->path().extension() != ".log")) {
      continue;
    }
    const auto stamp = os::stamp_of(file->path().string());
    if (stamp && (!newest || stamp->modified > newest->stamp.modified)) {
      newest = {file->path().string(), *stamp};
    }
  }
  return newest;
}

std::string folder_of(const RunLog& run) { return run.folder + "/Testing/Temporary"; }

/// What CTestCostData.txt, which ctest replaces at the end of each run, has below its times.
std::set<std::string> failed_in(const std::string& cost_data) {
  std::istringstream lines{cost_data};
  std::string line;
  while (std::getline(lines, line) && line != "---") {
  }
  std::set<std::string> failed;
  while (std::getline(lines, line)) {
    failed.insert(line);
  }
  return failed;
}

} // namespace

std::string ctest_log_of(const RunLog& run) {
  const auto log = last_log_in(folder_of(run));
  return log && run.ctest_log != 0 && log->stamp.id == run.ctest_log ? log->path : "";
}

std::optional<std::set<std::string>> failed_by_ctest(const RunLog& run, const std::string& ctest_log) try {
  if (run.failed) { // a merged log has them
    return run.failed;
  }
  if (ctest_log.empty()) { // ctest has started again, and has replaced its files or will
    return std::nullopt;
  }
  return failed_in(read_text(folder_of(run) + "/CTestCostData.txt"));
} catch (const Error&) {
  return std::nullopt;
}

} // namespace gputest::insights
