# SPDX-License-Identifier: BSD-3-Clause
"""Reference pages from what the program and its headers say of themselves.

The environment variable GPUTEST_TOOL names the tool, which is asked for its help.
"""
import os
import re
import subprocess
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]


def tool_help(*arguments):
    tool = os.environ.get("GPUTEST_TOOL")
    if not tool:
        raise ExtensionError("the reference is made from the tool's help: set GPUTEST_TOOL to a gputest, as .ci/docs does")
    return subprocess.run([tool, *arguments], check=True, capture_output=True, text=True).stdout


class Generated(SphinxDirective):
    """Parses text that was made, in the markup of the page."""

    def parse_lines(self, lines):
        node = nodes.Element()
        self.state.nested_parse(StringList(lines, source="generated"), self.content_offset, node, match_titles=True)
        return node.children


HELP_BLOCK = ["```{code-block} text", ":class: help", ""]


class Help(Generated):
    """The help of the tool and of each command, as it is printed."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        lines = ["## `gputest`", "", *HELP_BLOCK, *reflowed(tool_help("--help")), "```", ""]
        for command in self.arguments[0].split():
            lines += [f"## `gputest {command}`", "", *HELP_BLOCK, *reflowed(tool_help(command, "--help")), "```", ""]
        return self.parse_lines(lines)


def reflowed(text):
    """The lines. A paragraph is one line, which browsers wrap."""
    lines = []
    for line in text.strip().splitlines():
        last = lines[-1] if lines else ""
        if re.match(r"\S", line) and re.match(r"\S.*[^:]$", last) and not line.startswith("Usage:"):
            lines[-1] += " " + line
        else:
            lines.append(line)
    return lines


class Settings(Generated):
    """The table of `gputest --help-settings` as a list: those of the user, or with the argument `gputest` those that gputest sets."""

    optional_arguments = 1

    def run(self):
        settings = []
        table, *_ = tool_help("--help-settings").replace("<", "&lt;").split("\n\n")
        for line in table.splitlines()[1:]:
            if begin := re.match(r"  (GPUTEST_\w+)  (.*) \(default: (.*)\)$", line):
                name, values, default = begin.groups()
                settings.append([f"`{name}`", ":", f"  Values: {values}. Default: {default}."])
            elif settings and line.strip():
                settings[-1][1] += " " + line.strip()
        if len(settings) < 20:
            raise ExtensionError(f"`gputest --help-settings` has {len(settings)} settings; at least 20 are expected")
        mark = ": set by gputest:"
        of_gputest = bool(self.arguments)
        lines = []
        for name, meaning, values in settings:
            if meaning.startswith(mark) == of_gputest:
                meaning = ": " + meaning[len(mark) if of_gputest else 1:].strip()
                lines += [name, meaning + ("" if meaning.endswith(".") else "."), values, ""]
        return self.parse_lines(lines)


class Headers(Generated):
    """Each public header: its declarations, with their comments."""

    def run(self):
        lines = []
        for group in (("gtest",), ("catch2",), (), ("cuda",)):
            folder = ROOT.joinpath("include/gputest", *group)
            for header in sorted(folder.glob("*.hpp")):
                lines += page_of(header)
        header = (ROOT / "include/gputest/gputest.h").read_text()
        code = header[header.index("/* gputest for C"):header.rindex("#ifdef __cplusplus")]
        lines += ["## `<gputest/gputest.h>`", "", "```c", *code.splitlines(), "```", ""]
        return self.parse_lines(lines)


def page_of(header):
    text = header.read_text()
    entries = declarations(text)
    if not entries:
        return []
    lines = [f"## `<{header.relative_to(ROOT / 'include')}>`", ""]
    for name, code, comment in entries:
        lines += [f"### `{name}`", "", "```cpp", *code, "```", ""]
        lines += [*prose(comment), ""]
    return lines


def prose(comment):
    """A comment as Markdown: its words, and names that a reader would take for markup in backticks."""
    spans = re.split(r"(`[^`]*`)", "\n".join(comment))
    for i in range(0, len(spans), 2):
        spans[i] = re.sub(r"([<>*_\[\]])", r"\\\1", spans[i])
    return "".join(spans).splitlines()


def declarations(text):
    """(name, lines of code, lines of comment) of each commented declaration at namespace scope, except in detail."""
    text = re.sub(r"\nnamespace (?:gputest::)?detail \{.*?\n\} // namespace (?:gputest::)?detail\n", "\n", text, flags=re.S)
    lines = text.splitlines()
    entries = []
    i = 0
    while i < len(lines):
        if not lines[i].startswith("/// "):
            i += 1
            continue
        comment = []
        while i < len(lines) and lines[i].startswith("///"):
            comment.append(lines[i][3:].removeprefix(" "))
            i += 1
        while i < len(lines) and lines[i].lstrip().startswith("//"):
            i += 1
        code = []
        while i < len(lines):
            line = lines[i]
            i += 1
            code.append(line)
            if line.startswith("#define"):
                code = [re.sub(r"^(#define \w+\([^)]*\)).*|\s*\\$", r"\1", line)]
                while line.endswith("\\"):
                    line = lines[i]
                    i += 1
                break
            if line.endswith("{") and re.match(r"(class|struct|enum)", code[0].removeprefix("template <class Stream> ")):
                while not lines[i].startswith("}"):
                    code.append(lines[i])
                    i += 1
                code.append("};")
                i += 1
                break
            if line.endswith(("{", "}")):  # a function with its body
                code[-1] = re.sub(r"\s*\{.*$", ";", line)
                break
            if line.endswith(";") or not line:
                break
        name = name_of(code)
        if name:
            entries.append((name, without_private(code), comment))
    return entries


def name_of(code):
    first = " ".join(code)
    for pattern in (r"#define (\w+)", r"^(?:class|struct|enum class) (\w+)", r"\b(\w+)(?= ?\{Capability)", r"(\w+|operator\S+)\(", r"(\w+) ="):
        if found := re.search(pattern, first):
            return found.group(1)
    return ""


def without_private(code):
    """The public and protected part of a class, without its other comments and the notes of the linter."""
    shown = []
    private = False
    for line in code:
        if re.match(r"(public|protected|private):", line):
            private = line.startswith("private")
        if re.match(r"\s*// ", line):
            continue
        if not private or line.startswith("}"):
            line = re.sub(r"\s*//\s*NOLINT.*$", "", line)
            shown.append(re.sub(r"/\* NOLINT.*?\*/", "", line).replace("[[nodiscard]] ", "").rstrip())
    return shown


def setup(app):
    app.add_directive("gputest-help", Help)
    app.add_directive("gputest-settings", Settings)
    app.add_directive("gputest-headers", Headers)
    return {"parallel_read_safe": True}
