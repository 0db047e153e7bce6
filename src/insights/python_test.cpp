// SPDX-License-Identifier: BSD-3-Clause
#include "insights/python_test.hpp"

#include "insights/source_patch.hpp"

#include <algorithm>
#include <regex>

namespace gputest::insights {

PythonTest find_python_test(const SourceFile& file, std::size_t line, const std::string& test) {
  static const std::regex definition{R"(\s*(?:async\s+)?def\s+(\w+)\s*\()"};
  static const std::regex mark{R"re((@[\w.]*)?\bgpu\s*\((?:(?:[^()]*\bmemory\s*=)?\s*["']([^"']*)["'])?)re"};
  PythonTest found;
  const auto first = test.rfind("::") == std::string::npos ? 0 : test.rfind("::", test.find('[')) + 2;
  const auto name = test.substr(first, test.find('[') - first);
  std::string decorators;
  std::vector<std::size_t> ends; // of lines, in `decorators`
  for (auto at = line; at != 0 && at <= file.lines.size(); ++at) {
    const auto& text = file.lines[at - 1];
    if (std::smatch match; std::regex_search(text, match, definition, std::regex_constants::match_continuous)) {
      found.def = match[1] == name ? at : 0;
      break;
    }
    decorators += text + "\n";
    ends.push_back(decorators.size());
  }
  for (std::sregex_iterator match{decorators.begin(), decorators.end(), mark}, end; match != end && found.def != 0;
       ++match) {
    found.is_marked = found.is_marked || (*match)[1].matched;
    if ((*match)[2].matched) {
      const auto position = static_cast<std::size_t>(match->position(2));
      const auto index = static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), position) - ends.begin());
      found.memory.push_back({(*match)[2], line + index, position - (index == 0 ? 0 : ends[index - 1])});
    }
  }
  return found;
}

std::size_t line_for_import(const SourceFile& file) {
  static const std::regex pytest{R"(import\s+(?:[\w., ]+,\s*)?pytest\s*(?=[,#;\r]|$))"};
  static const std::regex any{R"((import\s+\w|from\s+(?!__future__)[\w.]+\s+import\s|async\s|def\s|class\s|@))"};
  const auto& lines = file.lines;
  const auto has = [&](const std::regex& what) {
    return std::find_if(lines.begin(), lines.end(), [&](const auto& line) {
      return std::regex_search(line, what, std::regex_constants::match_continuous);
    });
  };
  return has(pytest) != lines.end() ? 0 : static_cast<std::size_t>(has(any) - lines.begin()) + 1;
}

bool is_python(const std::string& path) { return path.size() > 3 && path.compare(path.size() - 3, 3, ".py") == 0; }

} // namespace gputest::insights
