// SPDX-License-Identifier: BSD-3-Clause
#include "report/source_edits.hpp"

#include "report/entry_results.hpp"
#include "report/source_code.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace gputest::report {

namespace {

using Verdict = Declaration::Verdict;

/// A literal size in a source.
struct Place {
  const SourceFile* file = nullptr;
  std::size_t begin = 0; ///< of the literal
  std::size_t size = 0;
  bool is_cmake = false;
};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/// `Sort.keys` of `Some/Sort.keys/0` and of `Sort/1.keys`: what an annotation names.
std::pair<std::string, std::string> annotated(const std::string& test) {
  const auto point = test.find('.');
  if (point == std::string::npos) {
    return {};
  }
  auto suite = test.substr(0, point);
  auto name = test.substr(point + 1);
  name = name.substr(0, name.find('/'));
  const auto slash = suite.find('/');
  if (slash != std::string::npos) {
    const bool is_typed = suite.find_first_not_of("0123456789", slash + 1) == std::string::npos;
    suite = is_typed ? suite.substr(0, slash) : suite.substr(slash + 1);
    suite = suite.substr(0, suite.find('/'));
  }
  return {suite, name};
}

/// Whether this is all of a literal size, with `between` before the unit.
bool is_size(const std::string& text, const std::string& between) {
  const auto digits = text.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string::npos || text.compare(digits, between.size(), between) != 0) {
    return false;
  }
  const auto unit = text.substr(digits + between.size());
  return unit == "B" || unit == "KiB" || unit == "MiB" || unit == "GiB" || unit == "TiB";
}

/// The arguments of a call: where each is in the file.
using Arguments = std::vector<Place>;

/// All calls in the sources that declare what a test needs, by what they are for.
class Sources {
public:
  explicit Sources(const std::vector<SourceFile>& files) {
    for (const auto& file : files) {
      const auto ends_with = [&](const std::string& end) {
        return file.path.size() >= end.size() && file.path.compare(file.path.size() - end.size(), end.size(), end) == 0;
      };
      const bool is_cmake = ends_with("CMakeLists.txt") || ends_with(".cmake");
      const auto code = is_cmake ? code_of_cmake(file.text) : code_of_cpp(file.text);
      for (const std::string name : {"gpu_add_test", "GPUTEST_NEEDS", "GPUTEST_SUITE_NEEDS"}) {
        if (is_cmake != (name == "gpu_add_test")) {
          continue;
        }
        for (auto at = code.find(name); at != std::string::npos; at = code.find(name, at + 1)) {
          if (at == 0 || !is_word(code[at - 1])) {
            read_call(file, code, at + name.size(), is_cmake ? entries_ : name == "GPUTEST_NEEDS" ? tests_ : suites_);
          }
        }
      }
    }
  }

  using Calls = std::map<std::pair<std::string, std::string>, std::vector<Arguments>>;

  [[nodiscard]] std::vector<Arguments> annotations(const std::string& suite, const std::string& test) const {
    return find(tests_, {suite, test});
  }
  [[nodiscard]] std::vector<Arguments> of_suite(const std::string& suite) const { return find(suites_, {suite, ""}); }
  [[nodiscard]] std::vector<Arguments> entries(const std::string& name) const { return find(entries_, {name, ""}); }

  /// The literal sizes among the arguments of a call.
  [[nodiscard]] static Arguments sizes_in(const Arguments& call) {
    Arguments sizes;
    for (std::size_t i = 1; i < call.size(); ++i) {
      const bool says_memory = !call[i].is_cmake || text_of(call[i - 1]) == "MEMORY";
      if (says_memory && is_size(text_of(call[i]), call[i].is_cmake ? "" : "_")) {
        sizes.push_back(call[i]);
      }
    }
    return sizes;
  }

  [[nodiscard]] static std::string text_of(const Place& place) {
    return place.file->text.substr(place.begin, place.size);
  }

private:
  [[nodiscard]] static std::vector<Arguments> find(const Calls& calls, const Calls::key_type& key) {
    const auto found = calls.find(key);
    return found == calls.end() ? std::vector<Arguments>{} : found->second;
  }

  void read_call(const SourceFile& file, const std::string& text, std::size_t at, Calls& into) {
    const bool is_cmake = &into == &entries_;
    while (at < text.size() && is_space(text[at])) {
      ++at;
    }
    if (at == text.size() || text[at] != '(') {
      return;
    }
    Arguments arguments;
    std::size_t depth = 1;
    std::size_t begin = at + 1;
    const auto end_argument = [&](std::size_t end) {
      auto last = end;
      while (begin < end && is_space(text[begin])) {
        ++begin;
      }
      while (last > begin && is_space(text[last - 1])) {
        --last;
      }
      if (last > begin) {
        arguments.push_back({&file, begin, last - begin, is_cmake});
      }
      begin = end + 1;
    };
    for (++at; at < text.size(); ++at) {
      const char c = text[at];
      depth += c == '(' ? 1 : 0;
      depth -= c == ')' ? 1 : 0;
      if (depth == 0 || (depth == 1 && (is_cmake ? is_space(c) : c == ','))) {
        end_argument(at);
      }
      if (depth == 0) {
        break;
      }
    }
    if (depth != 0 || arguments.size() < 2) {
      return;
    }
    if (!is_cmake) {
      into[{text_of(arguments[0]), &into == &tests_ ? text_of(arguments[1]) : ""}].push_back(arguments);
      return;
    }
    for (std::size_t i = 0; i + 1 < arguments.size(); ++i) {
      if (text_of(arguments[i]) == "NAME") {
        auto name = text_of(arguments[i + 1]);
        name.erase(std::remove(name.begin(), name.end(), '"'), name.end());
        into[{name, ""}].push_back(arguments);
        return;
      }
    }
  }

  Calls tests_;   ///< by suite and test
  Calls suites_;  ///< by suite
  Calls entries_; ///< by name
};

std::size_t line_number(const Place& place) {
  return 1 + static_cast<std::size_t>(std::count(
                 place.file->text.begin(), place.file->text.begin() + static_cast<std::ptrdiff_t>(place.begin), '\n'));
}

std::string line_at(const std::string& text, std::size_t position) {
  const auto begin = text.rfind('\n', position) + 1; // of the first line: npos + 1 is 0
  return text.substr(begin, std::min(text.find('\n', position), text.size()) - begin);
}

std::uint64_t size_at(const Place& place) {
  auto literal = place.file->text.substr(place.begin, place.size);
  literal.erase(std::remove(literal.begin(), literal.end(), '_'), literal.end());
  try {
    return parse_bytes(literal).count();
  } catch (const Error&) {
    return 0;
  }
}

/// Where a test is declared, or why that is not known.
struct Found {
  std::optional<Place> place; ///< the literal, or the call without one
  std::string why_not;
  std::vector<std::string> words; ///< of its annotation, but for its memory
};

/// The words of an annotation that say something else than memory.
std::vector<std::string> other_words(const Arguments& call, std::size_t first) {
  static const std::set<std::string> known{"gpus",        "heap",         "keeps",
                                           "sm",          "total_memory", "free_memory",
                                           "large",       "memory_pools", "managed_memory",
                                           "peer_access", "suite_lease",  "concurrent_managed_access",
                                           "tcc",         "wddm",         "mig",
                                           "small",       "medium",       "cooperative_launch"};
  std::vector<std::string> words;
  for (auto i = first; i < call.size(); ++i) {
    const auto text = Sources::text_of(call[i]);
    const auto colon = text.substr(0, text.find('(')).rfind(':');
    const auto word = text.substr(colon == std::string::npos ? 0 : colon + 1);
    const auto name = word.substr(0, word.find('('));
    if (known.count(name) != 0 && name != "small" && name != "medium") {
      words.push_back(text);
    }
  }
  return words;
}

/// The calls that can have said the memory of this test, and why there is none.
std::pair<std::vector<Arguments>, std::string> calls_for(const Declaration& of, const Sources& sources) {
  const auto [suite, test] = annotated(of.of_suite ? of.test + ".any" : of.test);
  if (of.said_by == "test" || (of.said_by == "suite" && of.of_suite)) {
    auto calls = of.of_suite ? sources.of_suite(suite) : sources.annotations(suite, test);
    calls.erase(std::remove_if(
                    calls.begin(), calls.end(),
                    [&](const Arguments& call) { return call.front().file->compiled_as.count(of.declared_in) == 0; }),
                calls.end());
    return {std::move(calls),
            of.of_suite ? "no GPUTEST_SUITE_NEEDS of this suite was found" : "no GPUTEST_NEEDS of this test was found"};
  }
  if (of.said_by == "entry") {
    return {sources.entries(of.entry),
            "no gpu_add_test() of this name was found; a fixture or gpu_discover_tests() may say it"};
  }
  return {{},
          of.said_by == "suite"     ? "its suite declares it, for other tests, too"
          : of.said_by == "fixture" ? "its fixture declares it, for other tests, too"
          : of.said_by == "section" ? "a GPUTEST_LEASE in the test declares it"
                                    : "the logs do not say where it was declared"};
}

Found find(const Declaration& of, const Sources& sources) {
  const auto [suite, test] = annotated(of.of_suite ? of.test + ".any" : of.test);
  auto [calls, why_none] = calls_for(of, sources);
  const bool is_annotation = of.said_by != "entry";
  if (calls.empty()) {
    // Where it can be written: in an annotation that says other things, or, if its suite says it, beside that.
    auto others = of.of_suite ? sources.of_suite(suite) : sources.annotations(suite, test);
    if (others.size() == 1 && Sources::sizes_in(others.front()).empty()) {
      return {others.front().front(), why_none, other_words(others.front(), of.of_suite ? 1 : 2)};
    }
    others = of.said_by == "suite" ? sources.of_suite(suite) : std::vector<Arguments>{};
    return {others.size() == 1 ? std::optional{others.front().front()} : std::nullopt, why_none, {}};
  }
  if (calls.size() > 1) {
    return {calls.front().front(), "it is declared in " + std::to_string(calls.size()) + " places", {}};
  }
  auto words = is_annotation ? other_words(calls.front(), of.of_suite ? 1 : 2) : std::vector<std::string>{};
  const auto sizes = Sources::sizes_in(calls.front());
  if (sizes.size() != 1) {
    return {calls.front().front(), "it does not declare one literal size", std::move(words)};
  }
  if (size_at(sizes.front()) == of.advised.count() && of.declared != of.advised.count()) {
    return {sizes.front(), "that is written already: build, and run ctest again", std::move(words)};
  }
  if (!of.declared || size_at(sizes.front()) != *of.declared) {
    return {sizes.front(),
            "in the run it declared " + (of.declared ? to_string(Bytes{*of.declared}) : std::string{"a class"}) +
                ", so that something else takes precedence, or the file is newer",
            std::move(words)};
  }
  if (of.verdict == Verdict::over && of.most_there > 0 && of.advised.count() > of.most_there) {
    return {sizes.front(), "no device of these runs has as much for a test", std::move(words)};
  }
  return {sizes.front(), "", std::move(words)};
}

/// The whole declaration, with the words that it has already.
std::string what_to_write(const Declaration& of, std::vector<std::string> words) {
  const auto [suite, test] = annotated(of.of_suite ? of.test + ".any" : of.test);
  if (suite.empty()) {
    return "MEMORY " + size_literal(of.advised, "");
  }
  if (of.of_suite && words.empty()) {
    words.emplace_back("suite_lease");
  }
  auto text = of.of_suite ? "GPUTEST_SUITE_NEEDS(" + suite : "GPUTEST_NEEDS(" + suite + ", " + test;
  text += ", " + size_literal(of.advised, "_");
  for (const auto& word : words) {
    text += ", " + word;
  }
  return text + ");";
}

bool is_header(const std::string& path) {
  const auto point = path.rfind('.');
  const auto ending = point == std::string::npos ? "" : path.substr(point);
  static const std::set<std::string> endings{".h", ".hh", ".hpp", ".hxx", ".cuh", ".inl"};
  return endings.count(ending) != 0;
}

/// Why the size must not be lowered at a place that declares it for all these, though those that ran used less; empty:
/// it may.
std::string why_not_lowered(const Place& place, const std::vector<const Declaration*>& all,
                            const std::vector<ListedTest>& not_measured) {
  if (!std::all_of(all.begin(), all.end(), [](const Declaration* of) { return of->exact; })) {
    return "not all of the tests that it is for were measured exactly";
  }
  if (place.is_cmake) {
    return std::all_of(all.begin(), all.end(), [](const Declaration* of) { return of->is_entry_known; })
               ? ""
               : "in its entry's newest run not all tests ran, passed and were measured each by itself";
  }
  if (is_header(place.file->path)) {
    return "it is in a header, which other executables may use, too";
  }
  struct Executable {
    std::size_t tests = 0;
    std::set<std::string> known;
  };
  std::map<std::string, Executable> executables;
  for (const auto* const of : all) {
    auto& executable = executables[of->program];
    executable.tests = std::max(executable.tests, of->declared_for);
    executable.known.insert(of->known.begin(), of->known.end());
  }
  for (const auto& [program, executable] : executables) {
    if (executable.tests == 0) {
      return "the logs do not say for how many tests it is";
    }
    if (executable.known.size() < executable.tests) {
      return "of the " + std::to_string(executable.tests) + " tests that it is for, " +
             std::to_string(executable.known.size()) + " ran, passed and " +
             (executable.known.size() == 1 ? "was measured by itself" : "were measured each by itself");
    }
  }
  for (const auto& listed : not_measured) {
    const auto [suite, test] = annotated(listed.test);
    for (const auto* const of : all) {
      const auto own = annotated(of->of_suite ? of->test + "." + test : of->test);
      if (own == std::pair{suite, test}) {
        return "the entry " + listed.entry + " has a test of this name, and is in no log. Run it first";
      }
    }
  }
  return "";
}

} // namespace

std::vector<SourceEdit> find_edits(const std::vector<Declaration>& declarations, const std::vector<SourceFile>& files,
                                   const std::vector<ListedTest>& listed) {
  std::set<std::string> measured;
  for (const auto& of : declarations) {
    measured.insert(of.entry);
  }
  auto not_measured = listed;
  not_measured.erase(std::remove_if(not_measured.begin(), not_measured.end(),
                                    [&](const ListedTest& test) { return measured.count(test.entry) != 0; }),
                     not_measured.end());
  const Sources sources{files};
  std::vector<SourceEdit> edits;
  struct AtPlace {
    Place place;
    std::vector<const Declaration*> all; ///< that this place declares
    bool changes = false;
  };
  std::map<std::pair<std::string, std::size_t>, AtPlace> by_place;
  for (const auto& of : declarations) {
    const bool changes = of.verdict == Verdict::over || of.verdict == Verdict::under;
    const auto found = find(of, sources);
    if (found.why_not.empty()) {
      auto& at = by_place[{found.place->file->path, found.place->begin}];
      at.place = *found.place;
      at.all.push_back(&of);
      at.changes = at.changes || changes;
      continue;
    }
    if (!changes) {
      continue;
    }
    SourceEdit edit;
    edit.name = full_name(of.entry, of.test);
    edit.before = of.declared ? to_string(Bytes{*of.declared}) : of.memory_class;
    edit.after = what_to_write(of, found.words);
    edit.why_not = found.why_not;
    if (found.place) {
      edit.path = found.place->file->path;
      edit.line = line_number(*found.place);
      edit.before = line_at(found.place->file->text, found.place->begin);
    }
    edits.push_back(std::move(edit));
  }
  for (const auto& [key, at] : by_place) {
    if (!at.changes) {
      continue;
    }
    const auto most = std::max_element(
        at.all.begin(), at.all.end(), [](const Declaration* a, const Declaration* b) { return a->most() < b->most(); });
    const auto& of = **most;
    const bool raises = of.verdict == Verdict::over;
    if (!raises && of.verdict != Verdict::under) {
      continue; // another of its tests needs what is declared
    }
    SourceEdit edit;
    edit.name = full_name(of.entry, of.test);
    edit.path = key.first;
    edit.line = line_number(at.place);
    edit.before = line_at(at.place.file->text, at.place.begin);
    edit.at = at.place.begin;
    edit.size = at.place.size;
    edit.literal = size_literal(of.advised, at.place.is_cmake ? "" : "_");
    auto text = at.place.file->text;
    text.replace(edit.at, edit.size, edit.literal);
    edit.after = line_at(text, at.place.begin);
    if (!raises) {
      edit.why_not = why_not_lowered(at.place, at.all, not_measured);
      edit.after = edit.why_not.empty() ? edit.after : "";
    }
    edits.push_back(std::move(edit));
  }
  return edits;
}

std::string apply_edits(const SourceFile& file, const std::vector<SourceEdit>& edits) {
  std::map<std::size_t, const SourceEdit*, std::greater<>> by_place; // from the end, so that places stay where they are
  for (const auto& edit : edits) {
    if (edit.why_not.empty() && edit.path == file.path) {
      by_place[edit.at] = &edit;
    }
  }
  std::string result = file.text;
  for (const auto& [at, edit] : by_place) {
    result.replace(at, edit->size, edit->literal);
  }
  return result;
}

} // namespace gputest::report
