// SPDX-License-Identifier: BSD-3-Clause
#include "insights/run_logs.hpp"

#include "core/settings/settings.hpp"
#include "tool/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

namespace gputest::insights {

std::vector<RunLogFile> logs_of(const std::string& folder, const std::string& log) {
  const auto chosen = log.empty() ? settings::chosen_log_folder() : std::nullopt;
  std::vector<std::string> problems;
  auto logs = read_run_logs(chosen ? *chosen : log.empty() ? folder + "/Testing/gputest" : log, problems);
  for (const auto& problem : problems) {
    fmt::print(stderr, "gputest: left out: {}\n", tool::printable(problem));
  }
  if (chosen) {
    std::error_code none;
    const auto own = std::filesystem::weakly_canonical(folder, none);
    const auto is_other = [&](const RunLogFile& file) {
      return std::filesystem::weakly_canonical(file.log.folder, none) != own;
    };
    if (!std::all_of(logs.begin(), logs.end(), is_other)) {
      logs.erase(std::remove_if(logs.begin(), logs.end(), is_other), logs.end());
    }
  }
  return logs;
}

} // namespace gputest::insights
