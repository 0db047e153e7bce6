// SPDX-License-Identifier: BSD-3-Clause
#include "insights/source_patch.hpp"

#include "core/policy/lease_limit.hpp"
#include "insights/entry_results.hpp"
#include "insights/python_test.hpp"

#include <gputest/bytes.hpp>
#include <gputest/error.hpp>

#include <algorithm>
#include <regex>
#include <set>
#include <tuple>
#include <utility>

namespace gputest::insights {

namespace {

using Verdict = Declaration::Verdict;

constexpr std::size_t longest_call = 20; // lines

enum class Kind { annotation, entry, test, python };

/// Where the size of some tests is declared, or is to be.
struct Place {
  Kind kind = Kind::test;
  std::string name; ///< of the file, as a log or ctest says it
  std::size_t line = 0;
  const SourceFile* file = nullptr; ///< null: it is not found
};

/// Executables may have got one file by several names.
bool operator<(const Place& a, const Place& b) {
  const auto key = [](const Place& place) {
    return std::tuple{place.kind, place.file ? place.file->path : place.name, place.line};
  };
  return key(a) < key(b);
}

bool is_header(const std::string& path) {
  static const std::set<std::string> endings{".h", ".hh", ".hpp", ".hxx", ".cuh", ".inl"};
  const auto point = path.rfind('.');
  return point != std::string::npos && endings.count(path.substr(point)) != 0;
}

/// The first line from `last` upwards in which `found` finds what it looks for. A compiler may name the first or the
/// last line of a macro that has several.
template <class Found>
std::size_t first_line_of_call(const SourceFile& file, std::size_t last, const Found& found) {
  for (std::size_t line = std::min(last, file.lines.size()); line > 0 && line + longest_call > last; --line) {
    if (found(line)) {
      return line;
    }
  }
  return 0;
}

/// Some lines as one text.
std::string text_from(const SourceFile& file, std::size_t line) {
  std::string text;
  for (auto at = line - 1; at < std::min(file.lines.size(), line + longest_call); ++at) {
    text += file.lines[at] + "\n";
  }
  return text;
}

/// Of `Some/Sort/0.keys/1` the names in the source, if the test begins in this line: `TYPED_TEST_P(Sort, keys) {`.
std::string names_at(const SourceFile& file, std::size_t line, const std::string& test) {
  static const std::regex call{R"(\b(?!GPUTEST_)\w+\s*\(\s*(\w+)\s*,\s*(\w+)\s*[,)])"};
  const auto point = test.find('.');
  if (point == std::string::npos) {
    return "";
  }
  const auto suite = "/" + test.substr(0, point) + "/";
  const auto name = test.substr(point + 1, test.find('/', point) - point - 1);
  const auto text = text_from(file, line);
  const auto line_end = static_cast<std::ptrdiff_t>(file.lines[line - 1].size());
  for (std::sregex_iterator found{text.begin(), text.end(), call}, end; found != end; ++found) {
    if (found->position() < line_end && (*found)[2] == name &&
        suite.find("/" + (*found)[1].str() + "/") != std::string::npos) {
      return (*found)[1].str() + ", " + name;
    }
  }
  return "";
}

/// A size in a line.
struct Literal {
  std::size_t line = 0, column = 0, length = 0;
};

/// The sizes of this many bytes in a call: arguments of GPUTEST_NEEDS, or what follows MEMORY in gpu_add_test().
///
/// None if the call ends before `last`: then it is another one.
std::vector<Literal> literals_in(const SourceFile& file, std::size_t first, std::size_t last, Kind kind, Bytes bytes) {
  static const std::regex argument{R"((^|,)\s*(\d+_[KMGT]?i?B)(?=\s*[,)]))"};
  static const std::regex keyword{R"((^|\s)MEMORY\s+(\d+[KMGT]?i?B)(?=[\s)]|$))"};
  std::vector<Literal> literals;
  int depth = 0;
  for (auto line = first; line < std::min(file.lines.size() + 1, first + longest_call); ++line) {
    const auto& text = file.lines[line - 1];
    const auto& pattern = kind == Kind::entry ? keyword : argument;
    for (std::sregex_iterator found{text.begin(), text.end(), pattern}, end; found != end; ++found) {
      auto size = (*found)[2].str();
      size.erase(std::remove(size.begin(), size.end(), '_'), size.end());
      try {
        if (parse_bytes(size) == bytes) {
          literals.push_back(
              {line, static_cast<std::size_t>(found->position(2)), static_cast<std::size_t>(found->length(2))});
        }
      } catch (const Error&) { // NOLINT(bugprone-empty-catch): no size
      }
    }
    depth += static_cast<int>(std::count(text.begin(), text.end(), '(') - std::count(text.begin(), text.end(), ')'));
    if (depth <= 0) {
      return line < last ? std::vector<Literal>{} : literals;
    }
  }
  return literals;
}

Place place_of(const Declaration& of, const Sources& sources) {
  const auto found = [&](Kind kind, const std::string& name, std::size_t line) {
    return Place{kind, name, line, line == 0 ? nullptr : sources.file(name)};
  };
  if (is_python(of.file)) {
    return found(Kind::python, of.file, of.line);
  }
  if (of.said_by == "test" || (of.said_by == "suite" && of.of_suite)) {
    return found(Kind::annotation, of.declared_in, of.declared_line);
  }
  const auto entry = sources.entries.find(of.entry);
  if (of.said_by == "entry" && entry != sources.entries.end() && (of.declared || of.line == 0)) {
    return found(Kind::entry, entry->second.file, entry->second.line);
  }
  return found(Kind::test, of.file, of.of_suite || of.said_by == "section" || of.said_by.empty() ? 0 : of.line);
}

std::string why_no_place(const Declaration& of) {
  const bool is_googletests = of.test.find('.') != std::string::npos;
  return of.said_by == "section" ? "a GPUTEST_LEASE in the test declares it"
         : of.said_by.empty()    ? "the logs do not say where it was declared"
         : of.of_suite           ? "no GPUTEST_SUITE_NEEDS says the memory of its suite"
         : is_googletests        ? "the logs do not say in which line it is. Run ctest again"
         : of.said_by == "entry" ? "ctest does not say where its gpu_add_test() is"
                                 : "only of tests of GoogleTest the line is known";
}

/// The declaration where no line of it is known.
std::string what_to_write(const Declaration& of, const std::string& literal) {
  return is_python(of.file)                       ? "@pytest.mark.gpu(\"" + literal + "\")"
         : of.of_suite                            ? "GPUTEST_SUITE_NEEDS(..., " + literal + ", suite_lease);"
         : of.test.find('.') == std::string::npos ? "MEMORY " + literal
         : of.said_by == "section"                ? "GPUTEST_LEASE(..., " + literal + ");"
                                   : "GPUTEST_NEEDS(" + policy::names_in_source(of.test) + ", " + literal + ");";
}

/// The one text in the marks of a test in Python that is what it declared in the run; null: there is not one.
const QuotedText* declared_text(const PythonTest& test, const Declaration& of) {
  const QuotedText* found = nullptr;
  for (const auto& memory : test.memory) {
    try {
      if (of.declared ? parse_bytes(memory.text) == Bytes{*of.declared} : memory.text == of.memory_class) {
        if (found != nullptr) {
          return nullptr;
        }
        found = &memory;
      }
    } catch (const Error&) { // NOLINT(bugprone-empty-catch): no size
    }
  }
  return found;
}

/// As locate(), of a test in Python. Without a mark of its own it gets one, which takes precedence over its class's.
void locate_mark(SourceEdit& edit, const Place& place, const Declaration& of) {
  const auto test = find_python_test(*place.file, place.line, of.test);
  edit.line = test.def == 0 ? place.line : test.def;
  edit.after = what_to_write(of, edit.literal);
  const bool is_inherited =
      !test.of_class.empty() && ("::" + of.test).find("::" + test.of_class + "::") == std::string::npos;
  if (is_inherited) {
    edit.why_not = "it is inherited from " + test.of_class + ", whose other heirs would get this mark: mark its class";
  } else if (const auto* const declared = declared_text(test, of)) {
    edit.line = declared->line;
    edit.column = declared->column;
    edit.length = declared->text.size();
    edit.before = edit.after = place.file->lines[edit.line - 1];
    edit.after.replace(edit.column, edit.length, edit.literal);
  } else if (test.def == 0) {
    edit.why_not = "that line does not begin this test. If the source has changed since the run, run the tests again";
  } else if (test.is_marked) {
    edit.why_not = "its marks do not have what it declared in the run as one literal";
  } else {
    const auto& def = place.file->lines[test.def - 1];
    edit.after = def.substr(0, def.find_first_not_of(" \t")) + edit.after;
  }
}

/// Finds in the source what to change, or says in `edit.why_not` why nothing there is.
void locate(SourceEdit& edit, const Place& place, const Declaration& of, bool has_changed) {
  const auto* const file = place.file;
  if (file == nullptr) {
    edit.after = what_to_write(of, edit.literal);
    edit.why_not = place.line == 0 ? why_no_place(of)
                                   : place.name + " is not found. Write --source with the folder of the sources";
    return;
  }
  edit.file = file;
  const std::string changed = "the source has changed since the run. Build, and run ctest again";
  if (place.kind == Kind::python) {
    locate_mark(edit, place, of);
    if (edit.why_not.empty() && has_changed) {
      edit.why_not = "the source has changed since the run. Run the tests again";
    }
    return;
  }
  if (place.kind == Kind::test) {
    std::string names;
    edit.line = first_line_of_call(*file, place.line, [&](std::size_t line) {
      names = names_at(*file, line, of.test);
      return !names.empty();
    });
    const auto call = "GPUTEST_NEEDS(" + names + ", ";
    edit.after = edit.line != 0 ? call + edit.literal + ");" : what_to_write(of, edit.literal);
    if (edit.line == 0 && !has_changed) {
      edit.line = place.line;
      edit.why_not =
          "that line is no TEST(Suite, name). If the source has changed since the run, build, and run ctest again";
    } else if (is_header(file->path)) {
      edit.why_not = "it is in a header, which sources without gputest may use, too";
    } else if (std::any_of(file->lines.begin(), file->lines.end(),
                           [&](const std::string& line) { return line.find(call) != std::string::npos; })) {
      edit.why_not = "it has a GPUTEST_NEEDS. Build, and run ctest again, or add the size there";
    } else if (has_changed) {
      edit.line = 0;
      edit.why_not = changed;
    }
    return;
  }
  const bool is_cmake = place.kind == Kind::entry; // ctest says the line that it is in now
  const auto first = is_cmake ? place.line : first_line_of_call(*file, place.line, [&](std::size_t line) {
    return file->lines[line - 1].find("GPUTEST_") != std::string::npos;
  });
  const auto literals = of.declared && first != 0
                            ? literals_in(*file, first, place.line, place.kind, Bytes{*of.declared})
                            : std::vector<Literal>{};
  const bool is_written =
      of.declared && first != 0 && literals_in(*file, first, place.line, place.kind, edit.bytes).size() == 1;
  if (has_changed && !is_cmake && !is_written) {
    edit.after = what_to_write(of, edit.literal);
    edit.why_not = changed;
    return;
  }
  if (literals.size() == 1) {
    const auto& found = literals.front();
    edit.line = found.line;
    edit.column = found.column;
    edit.length = found.length;
    edit.before = edit.after = file->lines[found.line - 1];
    edit.after.replace(edit.column, edit.length, edit.literal);
    return;
  }
  edit.line = first == 0 ? place.line : first;
  edit.before = edit.line <= file->lines.size() ? file->lines[edit.line - 1] : "";
  edit.after = std::string{is_cmake ? "MEMORY " : ""} + edit.literal;
  edit.why_not = !of.declared ? "it declares a class, and no size"
                 : is_written
                     ? "that is written already: build, and run ctest again"
                     : "the " + to_string(Bytes{*of.declared}) + " of the run are not there as one literal size";
}

SourceEdit edit_of(const Declaration& of, const Place& place, const Sources& sources) {
  const bool raises = of.verdict == Verdict::over;
  SourceEdit edit;
  edit.name = full_name(of.entry, of.test);
  edit.bytes = raises ? of.needed() : of.advised;
  const bool is_cpp = of.of_suite || (place.kind != Kind::entry && of.test.find('.') != std::string::npos);
  edit.literal = size_literal(edit.bytes, is_cpp && place.kind != Kind::python ? "_" : "");
  locate(edit, place, of,
         sources.has_changed && place.file != nullptr && of.newest != nullptr &&
             sources.has_changed(*place.file, *of.newest));
  if (raises && of.most_there > 0 && edit.bytes.count() > of.most_there) {
    edit.why_not = "no device of these runs has " + to_string(edit.bytes) +
                   " for a test. Make the test smaller, or run it where there is more";
    edit.after.clear();
  } else if (!raises && edit.why_not.empty()) {
    edit.why_not = "a smaller size may be too small for what did not run";
  }
  return edit;
}

/// What tells tests in one place apart: their names, or what their marks in Python declare.
std::string name_in(const Place& place, const Declaration& of) {
  if (place.kind == Kind::python) {
    const auto test = place.file == nullptr ? PythonTest{} : find_python_test(*place.file, place.line, of.test);
    return !test.is_marked && declared_text(test, of) == nullptr ? ""
           : of.declared                                         ? to_string(Bytes{*of.declared})
                                                                 : of.memory_class;
  }
  const auto point = of.test.find('.');
  return point == std::string::npos || place.kind == Kind::entry
             ? ""
             : of.test.substr(point + 1, of.test.find('/', point) - point - 1);
}

} // namespace

std::vector<SourceEdit> find_edits(const std::vector<Declaration>& declarations, const Sources& sources) {
  // A line may have several tests, or annotations; a gpu_add_test() is for all tests of its entries.
  std::map<std::tuple<Place, std::string, std::string>, const Declaration*> most;
  for (const auto& of : declarations) {
    const auto place = place_of(of, sources);
    const auto name = name_in(place, of);
    auto& first = most[place.line != 0 ? std::tuple{place, std::string{}, name} : std::tuple{place, of.entry, of.test}];
    first = first == nullptr || of.most() > first->most() ? &of : first;
  }
  std::vector<SourceEdit> edits;
  for (const auto& [key, of] : most) {
    if (of->verdict == Verdict::over || of->verdict == Verdict::under) { // else it needs what is declared
      edits.push_back(edit_of(*of, std::get<Place>(key), sources));
    }
  }
  return edits;
}

namespace {

/// A source and its changes, by line.
class Changes {
public:
  explicit Changes(const SourceFile& file) : file_{&file} {}

  void add(const SourceEdit& edit) {
    auto& line = lines_[edit.line];
    if (edit.before.empty()) {
      insert(edit.line, edit.after);
    } else {
      line.literals[edit.column] = &edit;
    }
  }

  /// Where an annotation is to be and nothing of gputest is included, the header; for a mark, `import pytest`.
  void include_header() {
    const auto find = [&](const char* text) {
      const auto found = std::find_if(file_->lines.begin(), file_->lines.end(), [&](const std::string& line) {
        return line.rfind("#include", 0) == 0 && line.find(text) != std::string::npos;
      });
      return static_cast<std::size_t>(found - file_->lines.begin()) + 1;
    };
    const bool annotates =
        std::any_of(lines_.begin(), lines_.end(), [](const auto& line) { return !line.second.above.empty(); });
    if (!annotates) {
      return;
    }
    if (is_python(file_->path)) {
      if (const auto place = line_for_import(*file_); place != 0) {
        insert(place, "import pytest");
      }
      return;
    }
    if (find("gputest/") <= file_->lines.size()) {
      return;
    }
    auto line = find("gtest/");
    line = line > file_->lines.size() ? find("#include") : line;
    insert(line > file_->lines.size() ? 1 : line, "#include <gputest/gputest.hpp>");
  }

  [[nodiscard]] std::string to_diff() const {
    std::string text = "--- a/" + file_->path + "\n+++ b/" + file_->path + "\n";
    constexpr std::size_t context = 3;
    std::size_t added = 0;
    for (auto next = lines_.begin(); next != lines_.end();) {
      const auto first = next->first > context ? next->first - context : 1;
      auto last = next->first;
      for (; next != lines_.end() && next->first <= last + 2 * context + 1; ++next) {
        last = next->first;
      }
      last = std::min(last + context, file_->lines.size());
      std::string lines;
      const auto before = added;
      for (auto line = first; line <= last; ++line) {
        lines += lines_at(line, added);
      }
      const auto count = last - first + 1;
      text += "@@ -" + std::to_string(first) + "," + std::to_string(count) + " +" + std::to_string(first + before) +
              "," + std::to_string(count + added - before) + " @@\n" + lines;
    }
    return text;
  }

private:
  struct Line {
    std::vector<std::string> above;
    std::map<std::size_t, const SourceEdit*> literals; ///< by column
  };

  void insert(std::size_t line, std::string text) {
    const auto& next = file_->lines[line - 1];
    lines_[line].above.push_back(std::move(text) + (!next.empty() && next.back() == '\r' ? "\r" : ""));
  }

  std::string lines_at(std::size_t number, std::size_t& added) const {
    const auto& old = file_->lines[number - 1];
    const std::string end =
        number == file_->lines.size() && !file_->ends_with_newline ? "\n\\ No newline at end of file\n" : "\n";
    const auto changed = lines_.find(number);
    if (changed == lines_.end()) {
      return " " + old + end;
    }
    std::string text;
    for (const auto& above : changed->second.above) {
      text += "+" + above + "\n";
      ++added;
    }
    const auto& literals = changed->second.literals;
    auto now = old;
    for (auto at = literals.rbegin(); at != literals.rend(); ++at) { // those before it stay in place
      now.replace(at->first, at->second->length, at->second->literal);
    }
    return literals.empty() ? text + " " + old + end : text + "-" + old + end + "+" + now + end;
  }

  const SourceFile* file_;
  std::map<std::size_t, Line> lines_;
};

} // namespace

std::string unified_diff(const std::vector<SourceEdit>& edits) {
  std::map<std::string, Changes> by_path;
  for (const auto& edit : edits) {
    if (edit.why_not.empty()) {
      by_path.try_emplace(edit.file->path, *edit.file).first->second.add(edit);
    }
  }
  std::string text;
  for (auto& [path, changes] : by_path) {
    changes.include_header();
    text += changes.to_diff();
  }
  return text;
}

} // namespace gputest::insights
