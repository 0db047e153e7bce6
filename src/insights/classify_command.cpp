// SPDX-License-Identifier: BSD-3-Clause
#include "insights/classify_command.hpp"

#include "core/os/file_stamp.hpp"
#include "core/os/host_name.hpp"
#include "insights/ctest_apart.hpp"
#include "insights/ctest_suite.hpp"
#include "insights/declarations.hpp"
#include "insights/entry_results.hpp"
#include "insights/run_logs.hpp"
#include "insights/saving.hpp"
#include "insights/source_files.hpp"
#include "insights/source_patch.hpp"
#include "tool/json_text.hpp"
#include "tool/table.hpp"

#include <gputest/error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <vector>

namespace gputest::insights {

namespace {

using insights::Declaration;
using Verdict = Declaration::Verdict;

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
  case Verdict::fits:
    return "fits";
  case Verdict::over:
    return "over";
  case Verdict::under:
    return "under";
  case Verdict::unknown:
    break;
  }
  return "unknown";
}

std::string declared_text(const Declaration& of) {
  return of.declared               ? to_string(Bytes{*of.declared})
         : of.whole_devices        ? "large"
         : of.memory_class.empty() ? to_string(Bytes{of.leased})
                                   : of.memory_class;
}

std::string measured_text(const Declaration& of) {
  if (of.measured.empty()) {
    return "-";
  }
  std::string text;
  for (const auto& [model, bytes] : of.measured) {
    text += (text.empty() ? "" : ", ") + to_string(Bytes{bytes}) +
            (of.measured.size() > 1 ? fmt::format(" ({})", model) : "");
  }
  return (of.sampled ? "at least " : "") + text;
}

std::string place_of(const SourceEdit& edit) {
  return edit.file == nullptr ? "" : fmt::format("{}:{}: ", edit.file->path, edit.line);
}

void print_edits(const std::vector<SourceEdit>& edits) {
  for (const auto& edit : edits) {
    auto lines = edit.after.empty() ? edit.why_not : edit.why_not.empty() ? "" : "write it yourself: " + edit.why_not;
    fmt::print("\n{}\n",
               tool::printable(fmt::format("{}{}{}{}", place_of(edit), edit.name, lines.empty() ? "" : ": ", lines)));
    if (!edit.before.empty()) {
      fmt::print("- {}\n", tool::printable(edit.before));
    }
    if (!edit.after.empty()) {
      fmt::print("+ {}\n", tool::printable(edit.after));
    }
  }
}

std::size_t count_in_patch(const std::vector<SourceEdit>& edits) {
  return static_cast<std::size_t>(
      std::count_if(edits.begin(), edits.end(), [](const SourceEdit& edit) { return edit.why_not.empty(); }));
}

std::string number_of(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// Takes those edits out that `git apply` would leave out, because their files are not below the current folder. Throws
/// Error if that is for the wrong current folder.
void keep_what_git_applies(std::vector<SourceEdit>& edits, const std::string& source, const std::string& build) {
  std::error_code none;
  const auto sources = source.empty() ? "" : std::filesystem::weakly_canonical(source, none).string() + "/";
  for (auto& edit : edits) {
    if (!edit.why_not.empty() ||
        (edit.file->path.front() != '/' && edit.file->path == tool::printable(edit.file->path))) {
      continue;
    }
    if (!sources.empty() && edit.file->path.rfind(sources, 0) == 0) {
      throw Error{fmt::format("{} is not below the current folder, and 'git apply' changes only what is. Go to the "
                              "source folder: cd {} && gputest classify --test-dir {} --patch | git apply",
                              tool::printable(edit.file->path), source, std::filesystem::absolute(build).string())};
    }
    edit.why_not = "it is not below the current folder";
  }
}

/// The diff on stdout, and on stderr what it has and what not.
void print_patch(const std::vector<SourceEdit>& edits) {
  std::set<std::string> files;
  for (const auto& edit : edits) {
    if (edit.why_not.empty()) {
      files.insert(edit.file->path);
    } else {
      fmt::print(stderr, "gputest: not in the patch: {}\n",
                 tool::printable(fmt::format("{}{}: {}{}", place_of(edit), edit.name,
                                             edit.after.empty() ? "" : fmt::format("write '{}': ", edit.after),
                                             edit.why_not)));
    }
  }
  fmt::print("{}", unified_diff(edits));
  const auto count = count_in_patch(edits);
  fmt::print(stderr, "gputest: {}\n",
             count == 0 ? "no changes"
                        : fmt::format("{} in {}. After 'git apply', build and run ctest again",
                                      number_of(count, "change"), number_of(files.size(), "file")));
}

nlohmann::ordered_json to_json(const std::vector<Declaration>& declarations, const std::vector<SourceEdit>& edits,
                               const Saving& saving) {
  nlohmann::ordered_json json{{"version", tool::json_version},
                              {"planned_s", saving.now},
                              {"planned_with_edits_s", saving.then},
                              {"tests", nlohmann::ordered_json::array()},
                              {"edits", nlohmann::ordered_json::array()}};
  for (const auto& of : declarations) {
    nlohmann::ordered_json test{
        {"name", full_name(of.entry, of.test)}, {"entry", of.entry},        {"test", of.test},
        {"verdict", name_of(of.verdict)},       {"class", of.memory_class}, {"leased_bytes", of.leased},
        {"measured_bytes", of.measured},        {"exact", of.exact},        {"runs", of.runs}};
    test["declared_bytes"] = of.declared ? nlohmann::ordered_json(*of.declared) : nlohmann::ordered_json();
    test["advised_bytes"] =
        of.advised > Bytes{} ? nlohmann::ordered_json(of.advised.count()) : nlohmann::ordered_json();
    json["tests"].push_back(std::move(test));
  }
  for (const auto& edit : edits) {
    json["edits"].push_back({{"name", edit.name},
                             {"file", edit.file == nullptr ? "" : edit.file->path},
                             {"line", edit.line},
                             {"before", edit.before},
                             {"after", edit.after},
                             {"why_not", edit.why_not}});
  }
  return json;
}

void print_table(const std::vector<Declaration>& declarations) {
  tool::Table table{{{"TEST"},
                     {"DECLARED", tool::Align::right},
                     {"MEASURED", tool::Align::right},
                     {"RUNS", tool::Align::right},
                     {""},
                     {"ADVISED", tool::Align::right}}};
  std::size_t fitting = 0;
  std::size_t unknown = 0;
  for (const auto& of : declarations) {
    fitting += of.verdict == Verdict::fits ? 1 : 0;
    unknown += of.verdict == Verdict::unknown ? 1 : 0;
    if (of.verdict == Verdict::over || of.verdict == Verdict::under) {
      table.add_row({full_name(of.entry, of.test), declared_text(of), measured_text(of), std::to_string(of.runs),
                     std::string{name_of(of.verdict)}, of.advised > Bytes{} ? to_string(of.advised) : "-"});
    }
  }
  if (fitting + unknown < declarations.size()) {
    fmt::print("{}\n", table.to_string());
  }
  fmt::print("{} of {} tests fit what they declare{}.\n", fitting, declarations.size(),
             unknown == 0 ? "" : fmt::format("; of {} the use is not known, or only a lower bound of it", unknown));
}

/// Whether the program's file is another one now, or is gone from the machine where the test ran.
bool has_changed(const LoggedProgram& program, const std::string& host) {
  if (program.path.empty()) {
    return false; // nobody knows
  }
  const auto now = os::stamp_of(program.path);
  return now ? !(*now == os::FileStamp{program.bytes, program.modified}) : host == os::host_name();
}

/// Leaves of each test the leases of its newest run, if its program is still the same. The others are of tests that may
/// have been mended, renamed or deleted. Throws Error if none is left.
void keep_what_is_true_now(std::vector<RunLogFile>& logs) {
  std::set<std::pair<std::string, std::string>> seen;
  std::set<std::string> changed;
  bool any = false;
  for (auto& [path, run] : logs) {
    std::set<std::pair<std::string, std::string>> of_run;
    std::vector<LoggedLease> kept;
    for (auto& lease : run.leases) {
      const std::pair test{lease.entry, lease.test};
      if (seen.count(test) != 0) {
        continue;
      }
      of_run.insert(test);
      if (has_changed(lease.program, run.host)) {
        changed.insert(lease.program.path);
      } else {
        kept.push_back(std::move(lease));
      }
    }
    run.leases = std::move(kept);
    any = any || !run.leases.empty();
    seen.insert(of_run.begin(), of_run.end());
  }
  for (const auto& program : changed) {
    fmt::print(stderr, "gputest: left out: runs of {}, which has changed since\n", tool::printable(program));
  }
  if (!any && !changed.empty()) {
    throw Error{"all programs of these tests have changed since they ran, so nothing can be checked. Run ctest first"};
  }
}

/// What ctest knows of the suite. Nothing if it cannot list its tests: the logs may be of another machine.
Suite suite_in(const std::string& folder, SourceFiles& files) {
  Suite suite;
  suite.source = [&files](const std::string& name) { return files.find(name); };
  try {
    const auto list = CtestApart{folder, {}}.list();
    suite.entries = places_of_entries(list);
    suite.tests = listed_tests_of(parse_ctest_suite(list));
    suite.is_listed = true;
  } catch (const Error&) { // NOLINT(bugprone-empty-catch): then less is known
  }
  return suite;
}

} // namespace

tool::ExitCode classify_command(const tool::ClassifyArguments& arguments) {
  auto logs = logs_of(arguments.folder, arguments.log);
  if (arguments.check) {
    keep_what_is_true_now(logs);
  }
  std::vector<const RunLog*> runs;
  for (const auto& file : logs) {
    runs.push_back(&file.log);
  }
  const auto declarations = declarations_of(runs);
  if (declarations.empty()) {
    throw Error{
        "no test in these run logs had a lease, so there is nothing to compare. Run the tests by ctest first, or "
        "name their logs with --log"};
  }
  const auto source = !arguments.source.empty()             ? arguments.source
                      : source_of(arguments.folder).empty() ? source_of(logs.front().log.folder)
                                                            : source_of(arguments.folder);
  const bool changes = std::any_of(declarations.begin(), declarations.end(), [](const Declaration& of) {
    return of.verdict == Verdict::over || of.verdict == Verdict::under;
  });
  SourceFiles files{source, arguments.folder};
  auto edits = changes ? find_edits(declarations, suite_in(arguments.folder, files)) : std::vector<SourceEdit>{};
  const auto saving = saving_of(logs.front().log, declarations);
  if (arguments.patch) {
    keep_what_git_applies(edits, source, arguments.folder);
    print_patch(edits);
  } else if (arguments.json) {
    fmt::print("{}", tool::json_text(to_json(declarations, edits, saving)));
  } else {
    print_table(declarations);
    print_edits(edits);
    if (!edits.empty() && saving.now > 0) {
      fmt::print("\nPlanned for the newest run: {:.1f} s as declared, {:.1f} s as advised.\n", saving.now, saving.then);
    }
    fmt::print("{}", edits.empty() ? "Nothing is to be changed.\n"
                                   : fmt::format("'gputest classify --patch' makes {} of these {} as a patch.\n",
                                                 count_in_patch(edits), number_of(edits.size(), "change")));
  }
  const bool over = std::any_of(declarations.begin(), declarations.end(),
                                [](const Declaration& of) { return of.verdict == Verdict::over; });
  return arguments.check && over ? tool::ExitCode::check_failed : tool::ExitCode::done;
}

} // namespace gputest::insights
