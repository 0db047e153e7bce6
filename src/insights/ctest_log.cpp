// SPDX-License-Identifier: BSD-3-Clause
#include "insights/ctest_log.hpp"

#include "core/os/file.hpp"
#include "insights/text_file.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string_view>
#include <vector>

namespace gputest::insights {

namespace {

/// The name in `<number>/<number> Test: <name>`; empty: the line has another form.
std::string_view name_in(std::string_view line) {
  constexpr std::string_view mark = " Test: ";
  const auto at = line.find(mark);
  const auto is_count = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789/") == std::string_view::npos;
  };
  return at != std::string_view::npos && is_count(line.substr(0, at)) ? line.substr(at + mark.size())
                                                                      : std::string_view{};
}

std::string last_of(const std::vector<std::string_view>& lines, std::size_t most_lines) {
  constexpr std::size_t most_bytes = 4096;
  std::string text;
  for (std::size_t i = lines.size() - std::min(lines.size(), most_lines); i < lines.size(); ++i) {
    text += std::string{lines[i]} + "\n";
  }
  return text.substr(text.size() - std::min(text.size(), most_bytes));
}

/// With what the message of a failure begins, the surest signs first: of GoogleTest, Catch2, pytest, assert(), the C++
/// library, gputest, and others.
constexpr std::array<std::string_view, 7> signs_of_a_message{": Failure",        "FAILED:",   "E   ",  "Assertion",
                                                             "terminate called", "gputest: ", "rror: "};

std::string message_of(const std::vector<std::string_view>& output) {
  std::vector<std::string_view> lines;
  std::copy_if(output.begin(), output.end(), std::back_inserter(lines),
               [](std::string_view line) { return line.find_first_not_of(" \t\r") != std::string_view::npos; });
  for (const auto sign : signs_of_a_message) {
    const auto first = std::find_if(lines.begin(), lines.end(),
                                    [&](std::string_view line) { return line.find(sign) != std::string_view::npos; });
    if (first != lines.end()) {
      lines = {first, first + std::min<std::ptrdiff_t>(3, lines.end() - first)};
      break;
    }
  }
  return last_of(lines, 3);
}

namespace fs = std::filesystem;

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

std::map<std::string, CtestOutput> parse_ctest_log(const std::string& text) {
  std::map<std::string, CtestOutput> outputs;
  CtestOutput* current = nullptr; // the entry whose section this is
  bool in_output = false;
  std::vector<std::string_view> output;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const auto line = std::string_view{text}.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (in_output && line == "<end of output>" && text.compare(std::min(begin, text.size()), 9, "Test time") == 0) {
      in_output = false;
      if (current != nullptr) {
        current->last_lines = last_of(output, 20);
        current->message = message_of(output);
        current->seconds = std::strtod(text.c_str() + text.find('=', begin) + 1, nullptr);
      }
    } else if (in_output && line.rfind("<CTestMeasurement", 0) != 0) { // which is for a dashboard
      output.push_back(line);
    } else if (!in_output && line == "Output:") { // and a line of dashes
      begin = std::min(text.find('\n', begin), text.size() - 1) + 1;
      ++number;
      in_output = true;
      output.clear();
    } else if (const auto name = std::string{in_output ? "" : name_in(line)}; !name.empty()) {
      current = &(outputs[name] = {number, "", "", -1, false});
    } else if (!in_output && current != nullptr) {
      current->skipped = current->skipped || line.rfind("Skip regular expression found in output", 0) == 0;
    }
  }
  return outputs;
}

std::string ctest_log_of(const RunLog& run) {
  std::string newest;
  os::FileStamp stamp;
  std::error_code error;
  for (fs::directory_iterator file{folder_of(run), error}, end; !error && file != end; file.increment(error)) {
    const auto name = file->path().filename().string();
    if (name == "LastTest.log" || (name.rfind("LastTest_", 0) == 0 && file->path().extension() == ".log")) {
      if (const auto of_file = os::stamp_of(file->path().string()); of_file && of_file->modified >= stamp.modified) {
        newest = file->path().string();
        stamp = *of_file;
      }
    }
  }
  return run.ctest_log != 0 && stamp.id == run.ctest_log ? newest : "";
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
