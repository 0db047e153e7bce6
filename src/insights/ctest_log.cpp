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

/// The name in `<count> Testing: <name>` and `<count> Test: <name>`, with which ctest begins what it writes of an
/// entry; empty: these lines are not here.
std::string name_at(const std::string& text, std::size_t begin, const std::string& count) {
  const auto first = count + " Testing: ";
  const auto second = "\n" + count + " Test: ";
  const auto end = text.compare(begin, first.size(), first) == 0 ? text.find(second, begin) : std::string::npos;
  if (end == std::string::npos) {
    return "";
  }
  const auto name = text.substr(begin + first.size(), end - begin - first.size());
  return text.compare(end + second.size(), name.size() + 1, name + "\n") == 0 ? name : "";
}

/// Lines of an output, without those for a dashboard.
std::vector<std::string_view> lines_of(std::string_view output) {
  std::vector<std::string_view> lines;
  while (!output.empty()) {
    const auto line = output.substr(0, output.find('\n'));
    output.remove_prefix(std::min(line.size() + 1, output.size()));
    if (line.rfind("<CTestMeasurement", 0) != 0) {
      lines.push_back(line);
    }
  }
  return lines;
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
  constexpr std::string_view output_begins = "\nOutput:\n";
  constexpr std::string_view output_ends = "\n<end of output>\nTest time";
  std::map<std::string, CtestOutput> outputs;
  std::string total;                        // `/<number of entries>`
  std::map<std::string, std::string> names; // by `<number>/<total>`; another attempt has the same
  std::size_t number = 1;                   // of the line that begins here
  const auto go_to = [&](std::size_t& from, std::size_t to) {
    to = std::min(to, text.size());
    number += static_cast<std::size_t>(std::count(text.data() + from, text.data() + to, '\n'));
    from = to;
  };
  for (std::size_t at = 0; at < text.size(); go_to(at, std::min(text.find('\n', at), text.size()) + 1)) {
    const auto count = text.substr(at, std::min(text.find_first_not_of("0123456789/", at), text.size()) - at);
    const auto slash = count.find('/');
    const auto name = slash == std::string::npos ? "" : name_at(text, at, count);
    total = name.empty() || !total.empty() ? total : count.substr(slash);
    if (name.empty() || count.substr(slash) != total || names.try_emplace(count, name).first->second != name) {
      continue;
    }
    auto& entry = outputs[name] = {};
    entry.line = number + 1 + static_cast<std::size_t>(std::count(name.begin(), name.end(), '\n'));
    const auto begin = text.find(output_begins, at);
    const auto own_end = "\n\"" + name + "\" end time: "; // an output may have what is above it, with other names
    const auto end = text.find(own_end, text.find(output_ends, begin));
    if (end == std::string::npos) { // the log has been cut
      break;
    }
    const auto closed = text.rfind(output_ends, end);
    const auto output = std::min(text.find('\n', begin + output_begins.size()), closed) + 1; // below dashes
    const auto lines = lines_of(std::string_view{text}.substr(output, closed + 1 - output));
    entry.last_lines = last_of(lines, 20);
    entry.message = message_of(lines);
    entry.seconds = std::strtod(text.c_str() + text.find('=', closed) + 1, nullptr);
    entry.skipped =
        text.substr(closed, end - closed).find("\nSkip regular expression found in output") != std::string::npos;
    go_to(at, end + 1);
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
