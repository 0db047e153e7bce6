// SPDX-License-Identifier: BSD-3-Clause
#include "insights/github_report.hpp"

#include "core/os/environment.hpp"
#include "core/policy/text.hpp"

#include <gputest/error.hpp>

#include <fmt/format.h>

#include <fstream>
#include <map>
#include <regex>
#include <sstream>

namespace gputest::insights {

namespace {

/// GitHub takes at most 1 MiB of a step's summary.
constexpr std::size_t max_outputs = 50;
constexpr std::size_t max_listed = 1000;

/// A text in which these characters are replaced.
std::string replaced(const std::string& text, const std::map<char, const char*>& all) {
  std::string result;
  for (const char c : text) {
    const auto other = all.find(c);
    result += other == all.end() ? std::string{c} : std::string{other->second};
  }
  return result;
}

std::string command_data(const std::string& text) {
  return replaced(text, {{'%', "%25"}, {'\r', "%0D"}, {'\n', "%0A"}});
}

std::string command_property(const std::string& text) {
  return replaced(text, {{'%', "%25"}, {'\r', "%0D"}, {'\n', "%0A"}, {':', "%3A"}, {',', "%2C"}});
}

/// As HTML, which Markdown may contain.
std::string html(const std::string& text) {
  return replaced(text, {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'|', "&#124;"}});
}

/// In a cell of a table, or in a list.
std::string on_a_line(const std::string& text) { return replaced(html(text), {{'\r', ""}, {'\n', "<br>"}}); }

} // namespace

SourcePlace place_of_failure(const std::string& output) {
  static const std::regex place{
      R"(^(?:[^ :]+: )?([^\s:]+):([0-9]{1,9}): (?:Failure|FAILED:|ERROR:|FATAL ERROR:|error:|[A-Za-z.]*Error\b|.*: Assertion `))"};
  std::istringstream lines{output};
  for (std::string line; std::getline(lines, line);) {
    if (std::smatch found; line.size() < 4096 && std::regex_search(line, found, place)) {
      return {found[1].str(), std::stoull(found[2].str())};
    }
  }
  return {};
}

std::string github_annotations(const std::vector<FailedTest>& failed) {
  std::string text;
  for (const auto& test : failed) {
    const auto& [file, line] = test.place;
    text += "::error " + (file.empty() ? "" : "file=" + command_property(file) + ",") +
            (line == 0 ? "" : fmt::format("line={},", line)) + "title=" + command_property(test.name) +
            "::" + command_data(test.why.empty() ? "failed" : test.why) + "\n";
  }
  return text;
}

std::string github_summary(const std::string& heading, const std::vector<FailedTest>& failed,
                           const std::vector<std::string>& notes) {
  std::string text = "### " + on_a_line(heading) + "\n\n";
  std::string outputs;
  std::size_t count = 0;
  if (!failed.empty()) {
    text += "| failed test | why | place |\n| --- | --- | --- |\n";
  }
  for (const auto& test : failed) {
    if (++count > max_listed) {
      break;
    }
    const auto& [file, line] = test.place;
    text += fmt::format("| {} | {} | {} |\n", on_a_line(test.name), on_a_line(test.why),
                        on_a_line(file + (line == 0 ? "" : fmt::format(":{}", line))));
    if (!test.output.empty() && count <= max_outputs) {
      outputs += fmt::format("<details><summary>{}</summary>\n<pre>{}</pre>\n</details>\n", on_a_line(test.name),
                             replaced(html(test.output), {{'\r', ""}, {'\n', "&#10;"}}));
    }
  }
  if (failed.size() > max_listed) {
    text += fmt::format("\n{} more failed.\n", failed.size() - max_listed);
  }
  text += outputs.empty() ? "" : "\n" + outputs;
  for (const auto& note : notes) {
    text += (&note == &notes.front() ? "\n- " : "- ") + on_a_line(note) + "\n";
  }
  return text;
}

void write_for_github(const std::string& heading, std::vector<FailedTest> failed, const std::vector<std::string>& notes,
                      const std::string& file) {
  const auto workspace = os::variable("GITHUB_WORKSPACE") + "/";
  for (auto& test : failed) { // GitHub shows no other files beside the code
    auto& source = test.place.file;
    source.erase(0, workspace.size() > 1 && policy::starts_with(source, workspace) ? workspace.size() : 0);
  }
  fmt::print("{}", github_annotations(failed));
  const auto path = file.empty() ? os::variable("GITHUB_STEP_SUMMARY") : file;
  const auto summary = github_summary(heading, failed, notes);
  if (path.empty()) {
    fmt::print("{}", summary);
    return;
  }
  std::ofstream out{path, std::ios::binary | std::ios::app};
  out << summary << '\n';
  out.close();
  if (!out) {
    throw Error{path + " cannot be written, to which the summary has to be appended. Write --output with another file, "
                       "or unset GITHUB_STEP_SUMMARY to have it printed"};
  }
}

} // namespace gputest::insights
