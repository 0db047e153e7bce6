// SPDX-License-Identifier: BSD-3-Clause
#include "insights/python_test.hpp"

#include "insights/source_patch.hpp"

#include <algorithm>
#include <regex>

namespace gputest::insights {

namespace {

/// The code of a line, in its columns: a comment and the inside of a string in three quotation marks are blank, and
/// unless `strings` the others, too. `within` is such a mark where the line begins or ends in a string, else 0.
std::string code_of(const std::string& line, char& within, bool strings = true) {
  std::string code = line;
  char quote = 0; // of a string that ends in its line
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    const bool is_triple = (c == '"' || c == '\'') && line.compare(at, 3, std::string(3, c)) == 0;
    if (within != 0) {
      const bool ends = c == within && is_triple;
      within = ends ? '\0' : within;
      const std::size_t count = ends ? 3 : c == '\\' ? 2 : 1;
      code.replace(at, count, std::string(std::min(count, line.size() - at), ' '));
      at += count - 1;
    } else if (quote != 0) {
      code[at] = strings || c == quote ? c : ' ';
      at += c == '\\' ? 1 : 0;
      quote = c == quote ? '\0' : quote;
    } else if (is_triple) {
      within = c;
      at += 2;
    } else if (c == '#') {
      return code.substr(0, at);
    } else if (c == '"' || c == '\'') {
      quote = c;
    }
  }
  return code;
}

} // namespace

PythonTest find_python_test(const SourceFile& file, std::size_t line, const std::string& test) {
  static const std::regex definition{R"((\s*)(?:async\s+)?def\s+([^\s(]+)\s*\()"};
  static const std::regex mark{R"re((@[\w.]*)?\bgpu\s*\((?:(?:[^()]*\bmemory\s*=)?\s*["']([^"']*)["'])?)re"};
  PythonTest found;
  const auto first = test.rfind("::") == std::string::npos ? 0 : test.rfind("::", test.find('[')) + 2;
  const auto name = test.substr(first, test.find('[') - first);
  std::string decorators;
  std::string bare;              // without strings
  std::vector<std::size_t> ends; // of lines, in `decorators`
  char within = 0;
  char within_bare = 0;
  for (auto at = line; at != 0 && at <= file.lines.size(); ++at) {
    const auto text = code_of(file.lines[at - 1], within);
    if (std::smatch match; std::regex_search(text, match, definition, std::regex_constants::match_continuous)) {
      found.def = match[2] == name ? at : 0;
      const auto indent = match[1].length();
      for (auto above = at; indent != 0 && --above > 0;) {
        static const std::regex header{R"((\s*)class\s+([^\s(:]+))"};
        if (std::regex_search(file.lines[above - 1], match, header, std::regex_constants::match_continuous) &&
            match[1].length() < indent) {
          found.of_class = match[2];
          break;
        }
      }
      break;
    }
    decorators += text + "\n";
    bare += code_of(file.lines[at - 1], within_bare, false) + "\n";
    ends.push_back(decorators.size());
  }
  for (std::sregex_iterator match{decorators.begin(), decorators.end(), mark}, end; match != end && found.def != 0;
       ++match) {
    if (bare[static_cast<std::size_t>(match->position())] == ' ') { // in a string
      continue;
    }
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
  static const std::regex pytest{R"(import\s+(?:[\w., ]+,\s*)?pytest\s*(?=[,;\r]|$))"};
  static const std::regex statement{R"re((?!from\s+__future__|[rRuUbB]*["'])[\w@])re"}; // no docstring
  std::size_t first = 0;
  char within = 0;
  for (std::size_t line = 1; line <= file.lines.size(); ++line) {
    const auto code = code_of(file.lines[line - 1], within);
    if (std::regex_search(code, pytest, std::regex_constants::match_continuous)) {
      return 0;
    }
    if (first == 0 && std::regex_search(code, statement, std::regex_constants::match_continuous)) {
      first = line;
    }
  }
  return first;
}

bool is_python(const std::string& path) { return path.size() > 3 && path.compare(path.size() - 3, 3, ".py") == 0; }

} // namespace gputest::insights
