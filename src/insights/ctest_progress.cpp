// SPDX-License-Identifier: BSD-3-Clause
#include "insights/ctest_progress.hpp"

#include "core/policy/text.hpp"

#include <optional>
#include <regex>

namespace gputest::insights {

namespace {

/// What follows the name: ` .....   Passed    1.00 sec`, with `***Failed` and the like for all but `Passed`, or with
/// `Subprocess aborted***Exception:`.
std::optional<RunResult> parse_result(const std::string& text, const std::string& name) {
  static const std::regex form{R"([ .]*(\*\*\*)?([^\n ][^\n]*?)(\*\*\*Exception:)? +[0-9.]+ sec *)"};
  std::smatch part;
  if (text.size() > 4096 || !std::regex_match(text, part, form)) {
    return std::nullopt;
  }
  const std::string what = part[2];
  const bool is_marked = part[1].matched || part[3].matched;
  if (!is_marked) {
    return what == "Passed" ? std::optional{RunResult{name, TestVerdict::passed, "", "", ""}} : std::nullopt;
  }
  return RunResult{name,
                   what == "Skipped"              ? TestVerdict::skipped
                   : what == "Not Run (Disabled)" ? TestVerdict::disabled
                   : what == "Not Run"            ? TestVerdict::not_run
                                                  : TestVerdict::failed,
                   what, "", ""};
}

} // namespace

CtestProgress parse_ctest_progress(const std::string& text, const std::vector<SuiteTest>& tests,
                                   const std::map<std::size_t, std::size_t>& positions, std::size_t sound) {
  static const std::regex form{R"([ 0-9/]*(Start +|Test +#)([0-9]{1,9}): )"};
  CtestProgress progress;
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const auto head = text.substr(begin, std::min<std::size_t>(end - begin, 60));
    std::smatch part;
    if (!std::regex_search(head, part, form, std::regex_constants::match_continuous)) {
      continue;
    }
    const auto known = positions.find(std::stoul(part[2].str()));
    const auto rest = text.substr(begin + part[0].str().size(), end - begin - part[0].str().size());
    if (known == positions.end() || !policy::starts_with(rest, tests[known->second].name)) {
      continue;
    }
    const auto position = known->second;
    const auto& name = tests[position].name;
    const bool starts = part[1].str().front() == 'S';
    if (starts && rest == name) {
      progress.ended.erase(position); // it runs again
      progress.unsure.erase(position);
      progress.begun.insert(position);
    } else if (auto result = starts ? std::nullopt : parse_result(rest.substr(name.size()), name)) {
      progress.begun.erase(position);
      (end < sound ? progress.ended : progress.unsure)[position] = *std::move(result);
    }
  }
  return progress;
}

} // namespace gputest::insights
