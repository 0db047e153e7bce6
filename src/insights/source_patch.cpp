// SPDX-License-Identifier: BSD-3-Clause
#include "insights/source_patch.hpp"

#include "core/policy/lease_limit.hpp"
#include "insights/entry_results.hpp"

#include <gputest/bytes.hpp>
#include <gputest/error.hpp>

#include <algorithm>
#include <optional>
#include <regex>
#include <set>
#include <tuple>
#include <utility>

namespace gputest::insights {

namespace {

using Verdict = Declaration::Verdict;

constexpr std::size_t longest_call = 20; // lines

enum class Kind { annotation, entry, test };

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
  static const std::regex call{R"(^\s*\w+\s*\(\s*(\w+)\s*,\s*(\w+)\s*[,)])"};
  const auto text = text_from(file, line);
  std::smatch found;
  const auto point = test.find('.');
  if (point == std::string::npos || !std::regex_search(text, found, call, std::regex_constants::match_continuous)) {
    return "";
  }
  const auto suite = "/" + test.substr(0, point) + "/";
  const auto name = test.substr(point + 1, test.find('/', point) - point - 1);
  return found[2] == name && suite.find("/" + found[1].str() + "/") != std::string::npos
             ? found[1].str() + ", " + found[2].str()
             : "";
}

/// A size in a line.
struct Literal {
  std::size_t line = 0, column = 0, size = 0;
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

Place place_of(const Declaration& of, const Suite& suite) {
  const auto found = [&](Kind kind, const std::string& name, std::size_t line) {
    return Place{kind, name, line, line == 0 ? nullptr : suite.source(name)};
  };
  if (of.said_by == "test" || (of.said_by == "suite" && of.of_suite)) {
    return found(Kind::annotation, of.declared_in, of.declared_line);
  }
  const auto entry = suite.entries.find(of.entry);
  if (of.said_by == "entry" && entry != suite.entries.end() && (of.declared || of.line == 0)) {
    return found(Kind::entry, entry->second.file, entry->second.line);
  }
  return found(Kind::test, of.file, of.of_suite || of.said_by == "section" || of.said_by.empty() ? 0 : of.line);
}

/// Tests with one declaration.
struct Group {
  std::vector<const Declaration*> all;
  const Declaration* most = nullptr; ///< that needs most

  [[nodiscard]] bool has(Verdict verdict) const {
    return std::any_of(all.begin(), all.end(), [&](const Declaration* of) { return of->verdict == verdict; });
  }
};

/// Why what those that ran used is not all that this place is for; empty: it is.
std::string why_not_known(const Place& place, const Group& group, const std::string& path, const Suite& suite) {
  if (!std::all_of(group.all.begin(), group.all.end(), [](const Declaration* of) { return of->exact; })) {
    return "not all of the tests that it is for were measured exactly";
  }
  if (place.kind != Kind::annotation &&
      !std::all_of(group.all.begin(), group.all.end(), [](const Declaration* of) { return of->is_entry_known; })) {
    return "in its entry's newest run not all tests ran, passed and were measured each by itself";
  }
  if (place.kind == Kind::entry) {
    return "";
  }
  if (is_header(path)) {
    return "it is in a header, which other executables may use, too";
  }
  struct Executable {
    std::size_t tests = 0;
    std::set<std::string> known;
  };
  std::map<std::string, Executable> executables;
  std::set<std::string> names;
  for (const auto* const of : group.all) {
    auto& executable = executables[of->program];
    executable.tests = std::max(executable.tests, of->declared_for);
    executable.known.insert(of->known.begin(), of->known.end());
    for (const auto& test : of->known) {
      names.insert(policy::names_in_source(test));
    }
  }
  for (const auto& [program, executable] : executables) {
    if (place.kind == Kind::annotation && executable.tests == 0) {
      return "the logs do not say for how many tests it is";
    }
    if (place.kind == Kind::annotation && executable.known.size() < executable.tests) {
      return "of the " + std::to_string(executable.tests) + " tests that it is for, " +
             std::to_string(executable.known.size()) + " ran, passed and " +
             (executable.known.size() == 1 ? "was measured by itself" : "were measured each by itself");
    }
  }
  if (place.kind == Kind::test && !suite.is_listed) {
    return "ctest does not list the tests, so that others may be meant, too";
  }
  for (const auto& listed : suite.tests) {
    if (names.count(policy::names_in_source(listed.test)) != 0) {
      return "the entry " + listed.entry + " has a test of this name, and is in no log. Run it first";
    }
  }
  return "";
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
  return of.of_suite                              ? "GPUTEST_SUITE_NEEDS(..., " + literal + ", suite_lease);"
         : of.test.find('.') == std::string::npos ? "MEMORY " + literal
         : of.said_by == "section"                ? "GPUTEST_LEASE(..., " + literal + ");"
                                   : "GPUTEST_NEEDS(" + policy::names_in_source(of.test) + ", " + literal + ");";
}

/// Finds in the source what to change, or says in `edit.why_not` why nothing there is.
void locate(SourceEdit& edit, const Place& place, const Group& group) {
  const auto& of = *group.most;
  const auto* const file = place.file;
  if (file == nullptr) {
    edit.after = what_to_write(of, edit.literal);
    edit.why_not = place.line == 0 ? why_no_place(of)
                                   : place.name + " is not found. Write --source with the folder of the sources";
    return;
  }
  edit.file = file;
  if (place.kind == Kind::test) {
    std::string names;
    edit.line = first_line_of_call(*file, place.line, [&](std::size_t line) {
      names = names_at(*file, line, of.test);
      return !names.empty();
    });
    const auto call = "GPUTEST_NEEDS(" + names + ", ";
    edit.after = edit.line != 0 ? call + edit.literal + ");" : what_to_write(of, edit.literal);
    if (edit.line == 0) {
      edit.why_not = "line " + std::to_string(place.line) + " of " + file->path + " is no TEST(Suite, name)";
    } else if (is_header(file->path)) {
      edit.why_not = "it is in a header, which sources without gputest may use, too";
    } else if (std::any_of(file->lines.begin(), file->lines.end(),
                           [&](const std::string& line) { return line.find(call) != std::string::npos; })) {
      edit.why_not = "it has a GPUTEST_NEEDS. Build, and run ctest again, or add the size there";
    }
    return;
  }
  const bool is_cmake = place.kind == Kind::entry;
  const auto first = is_cmake ? place.line : first_line_of_call(*file, place.line, [&](std::size_t line) {
    return file->lines[line - 1].find("GPUTEST_") != std::string::npos;
  });
  const auto literals = of.declared && first != 0
                            ? literals_in(*file, first, place.line, place.kind, Bytes{*of.declared})
                            : std::vector<Literal>{};
  if (literals.size() == 1) {
    const auto& found = literals.front();
    edit.line = found.line;
    edit.column = found.column;
    edit.size = found.size;
    edit.before = edit.after = file->lines[found.line - 1];
    edit.after.replace(edit.column, edit.size, edit.literal);
    return;
  }
  edit.line = first == 0 ? place.line : first;
  edit.before = edit.line <= file->lines.size() ? file->lines[edit.line - 1] : "";
  edit.after = std::string{is_cmake ? "MEMORY " : ""} + edit.literal;
  edit.why_not = !of.declared ? "it declares a class, and no size"
                 : first != 0 && literals_in(*file, first, place.line, place.kind,
                                             group.has(Verdict::over) ? of.needed() : of.advised)
                                         .size() == 1
                     ? "that is written already: build, and run ctest again"
                     : "the " + to_string(Bytes{*of.declared}) + " of the run are not there as one literal size";
}

} // namespace

std::vector<SourceEdit> find_edits(const std::vector<Declaration>& declarations, const Suite& suite) {
  std::set<std::string> measured;
  for (const auto& of : declarations) {
    measured.insert(of.entry);
  }
  auto not_measured = suite;
  auto& tests = not_measured.tests;
  tests.erase(std::remove_if(tests.begin(), tests.end(),
                             [&](const ListedTest& test) { return measured.count(test.entry) != 0; }),
              tests.end());
  std::map<std::tuple<Place, std::string, std::string>, Group> groups;
  for (const auto& of : declarations) {
    const auto place = place_of(of, suite);
    const bool is_known = place.line != 0; // else each stands for itself
    auto& group = groups[{place, is_known ? "" : of.entry, is_known ? "" : of.test}];
    group.all.push_back(&of);
    group.most = group.most == nullptr || of.most() > group.most->most() ? &of : group.most;
  }
  std::vector<SourceEdit> edits;
  for (const auto& [key, group] : groups) {
    const auto& place = std::get<Place>(key);
    const auto& of = *group.most;
    const bool raises = group.has(Verdict::over);
    if (!raises && of.verdict != Verdict::under) {
      continue; // it needs what is declared
    }
    SourceEdit edit;
    edit.name = full_name(of.entry, of.test);
    const bool is_cmake = place.kind == Kind::entry || of.test.find('.') == std::string::npos;
    edit.literal = size_literal(raises ? of.needed() : of.advised, is_cmake && !of.of_suite ? "" : "_");
    locate(edit, place, group);
    if (raises && of.most_there > 0 && of.needed().count() > of.most_there) {
      edit.why_not = "no device of these runs has " + to_string(of.needed()) +
                     " for a test. Make the test smaller, or run it where there is more";
      edit.after.clear();
    } else if (!raises && edit.why_not.empty()) {
      edit.why_not = why_not_known(place, group, edit.file->path, not_measured);
      edit.after = edit.why_not.empty() ? edit.after : "";
    }
    edits.push_back(std::move(edit));
  }
  return edits;
}

namespace {

/// The size in an annotation or a literal: of `GPUTEST_NEEDS(Sort, keys, 3_GiB);`, 3 GiB. 0 if there is none.
Bytes size_in(const std::string& text) {
  static const std::regex size{"\\b([0-9]+)_?((?:[KMGT]i)?B)\\b"};
  std::smatch found;
  return std::regex_search(text, found, size) ? parse_bytes(found[1].str() + found[2].str()) : Bytes{};
}

/// What an annotation is for: all before the size.
std::string subject_of(const std::string& annotation) { return annotation.substr(0, annotation.rfind(',')); }

/// A source and its changes, by line. Of two sizes for one place, from executables that build one file, the larger.
class Changes {
public:
  explicit Changes(const SourceFile& file) : file_{&file} {}

  void add(const SourceEdit& edit) {
    if (edit.before.empty()) {
      for (auto& other : inserted_[edit.line]) {
        if (subject_of(other) == subject_of(edit.after)) {
          other = size_in(other) < size_in(edit.after) ? edit.after : other;
          return;
        }
      }
      insert(edit.line, edit.after);
      return;
    }
    auto& replaced = replaced_[edit.line];
    const auto other = replaced.find(edit.column);
    if (other == replaced.end() || size_in(other->second.second) < size_in(edit.literal)) {
      replaced[edit.column] = {edit.size, edit.literal};
    }
  }

  /// Where an annotation is to be and nothing of gputest is included, the header.
  void include_header() {
    const auto find = [&](const char* text) {
      const auto found = std::find_if(file_->lines.begin(), file_->lines.end(), [&](const std::string& line) {
        return line.rfind("#include", 0) == 0 && line.find(text) != std::string::npos;
      });
      return static_cast<std::size_t>(found - file_->lines.begin()) + 1;
    };
    if (inserted_.empty() || find("gputest/") <= file_->lines.size()) {
      return;
    }
    auto line = find("gtest/");
    line = line > file_->lines.size() ? find("#include") : line;
    insert(line > file_->lines.size() ? 1 : line, "#include <gputest/gputest.hpp>");
  }

  [[nodiscard]] std::string to_diff() const {
    std::string text = "--- a/" + file_->path + "\n+++ b/" + file_->path + "\n";
    std::set<std::size_t> changed;
    for (const auto& [line, texts] : inserted_) {
      changed.insert(line);
    }
    for (const auto& [line, literals] : replaced_) {
      changed.insert(line);
    }
    constexpr std::size_t context = 3;
    std::size_t added = 0;
    for (auto next = changed.begin(); next != changed.end();) {
      const auto first = *next > context ? *next - context : 1;
      auto last = *next;
      for (; next != changed.end() && *next <= last + 2 * context + 1; ++next) {
        last = *next;
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
  void insert(std::size_t line, std::string text) {
    const auto& next = file_->lines[line - 1];
    inserted_[line].push_back(std::move(text) + (!next.empty() && next.back() == '\r' ? "\r" : ""));
  }

  std::string lines_at(std::size_t line, std::size_t& added) const {
    std::string text;
    if (const auto inserted = inserted_.find(line); inserted != inserted_.end()) {
      for (const auto& above : inserted->second) {
        text += "+" + above + "\n";
        ++added;
      }
    }
    const auto& old = file_->lines[line - 1];
    const std::string end =
        line == file_->lines.size() && !file_->ends_with_newline ? "\n\\ No newline at end of file\n" : "\n";
    const auto replaced = replaced_.find(line);
    if (replaced == replaced_.end()) {
      return text + " " + old + end;
    }
    auto now = old;
    for (auto at = replaced->second.rbegin(); at != replaced->second.rend(); ++at) { // those before it stay in place
      now.replace(at->first, at->second.first, at->second.second);
    }
    return text + "-" + old + end + "+" + now + end;
  }

  const SourceFile* file_;
  std::map<std::size_t, std::vector<std::string>> inserted_;                                   ///< above the line
  std::map<std::size_t, std::map<std::size_t, std::pair<std::size_t, std::string>>> replaced_; ///< by line and column
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
