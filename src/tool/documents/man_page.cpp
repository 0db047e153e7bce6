// SPDX-License-Identifier: BSD-3-Clause
#include "tool/documents/documents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>

namespace gputest::tool {

namespace {

/// Text as roff takes it: a line that begins with a dot or a quote would be a request.
std::string escaped(const std::string& line) {
  std::string text;
  for (const char c : line) {
    text += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string{c};
  }
  return (!text.empty() && (text.front() == '.' || text.front() == '\'') ? "\\&" : "") + text;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// A line such as `Examples:`, or `Settings (environment variables):`.
bool is_heading(const std::string& line) {
  return !line.empty() && line.back() == ':' && std::isupper(static_cast<unsigned char>(line.front())) != 0;
}

/// Text with its own line breaks. Its headings begin sections or subsections (`macro`).
std::string as_it_is(const std::string& text, const std::string& macro) {
  std::string page = ".nf\n";
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    if (is_heading(line)) {
      const std::string heading = line.substr(0, line.find_first_of("(:") - (line.find(" (") != std::string::npos));
      page += ".fi\n" + macro + " " + escaped(macro == ".SH" ? upper(heading) : heading) + "\n.nf\n";
    } else {
      page += escaped(line) + "\n";
    }
  }
  return page + ".fi\n";
}

std::string options_of(const CommandDescription& command) {
  std::string page;
  for (const auto& option : command.options) {
    std::string names;
    for (const auto& name : option.names) {
      names += (names.empty() ? "" : ", ") + fmt::format("\\fB{}\\fR", escaped(name));
    }
    page += ".TP\n" + names + (option.value.empty() ? "" : fmt::format(" \\fI{}\\fR", escaped(option.value))) + "\n" +
            escaped(option.text) + "\n";
  }
  return page;
}

/// What both texts end with: the tool's own text has it already.
std::size_t common_end(const std::string& a, const std::string& b) {
  const auto [in_a, in_b] = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend());
  static_cast<void>(in_b);
  return static_cast<std::size_t>(in_a - a.rbegin());
}

/// Of a command's text the part that the tool's own text does not have: whole lines.
std::string own_part(const std::string& help, const std::string& of_tool) {
  const auto begin_of_common = help.size() - common_end(help, of_tool);
  const auto line = help.find('\n', begin_of_common == 0 ? 0 : begin_of_common - 1);
  return help.substr(0, line == std::string::npos ? help.size() : line + 1);
}

} // namespace

std::string man_page(const ToolDescription& description) {
  const auto& tool = description.tool;
  std::string page = ".\\\" Made from the description of the command line.\n.TH " + upper(tool.name) + " 1 \"\" \"" +
                     description.version + "\"\n.SH NAME\n" + tool.name + " \\- " + escaped(tool.text) +
                     "\n.SH SYNOPSIS\n.nf\n" + escaped(tool.usage) + "\n";
  for (const auto& command : description.commands) {
    page += escaped(command.usage) + "\n";
  }
  page += ".fi\n.SH OPTIONS\n" + options_of(tool);
  for (const auto& command : description.commands) {
    page += ".SH COMMAND " + upper(command.name) + "\n" + escaped(command.text) + ".\n" + options_of(command) +
            ".PP\n" + as_it_is(own_part(command.help, tool.help), ".SS");
  }
  return page + as_it_is(tool.help, ".SH");
}

} // namespace gputest::tool
