// SPDX-License-Identifier: BSD-3-Clause
#include "cli/classify_command.hpp"

#include "cli/ctest_apart.hpp"
#include "cli/json_text.hpp"
#include "cli/run_logs.hpp"
#include "cli/source_files.hpp"
#include "cli/table.hpp"
#include "platform/file_stamp.hpp"
#include "platform/host_name.hpp"
#include "report/ctest_suite.hpp"
#include "report/declarations.hpp"
#include "report/entry_results.hpp"
#include "report/saving.hpp"
#include "report/source_edits.hpp"

#include <gputest/error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace gputest::cli {

namespace {

using report::Declaration;
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

void print_edits(const std::vector<report::SourceEdit>& edits, bool applied) {
  for (const auto& edit : edits) {
    const auto where = edit.path.empty() ? std::string{} : fmt::format("{}:{}: ", edit.path, edit.line);
    if (edit.why_not.empty()) {
      fmt::print("\n{}{}\n- {}\n+ {}\n", where, applied ? "changed" : "can be changed by --apply", edit.before,
                 edit.after);
    } else if (edit.after.empty()) {
      fmt::print("\n{}not lowered: {}\n- {}\n", where, edit.why_not, edit.before);
    } else if (edit.after == edit.before) {
      fmt::print("\n{}{}: {} ({})\n", where, edit.name, edit.after, edit.why_not);
    } else {
      fmt::print("\n{}{}: write {} in place of {} ({})\n", where, edit.name, edit.after, edit.before, edit.why_not);
    }
  }
  if (applied && std::any_of(edits.begin(), edits.end(), [](const auto& edit) { return edit.why_not.empty(); })) {
    fmt::print("\nBuild, and run ctest again, to see what these tests use now.\n");
  }
}

nlohmann::ordered_json to_json(const std::vector<Declaration>& declarations,
                               const std::vector<report::SourceEdit>& edits, const report::Saving& saving) {
  nlohmann::ordered_json json{{"version", json_version},
                              {"planned_s", saving.now},
                              {"planned_with_edits_s", saving.then},
                              {"tests", nlohmann::ordered_json::array()},
                              {"edits", nlohmann::ordered_json::array()}};
  for (const auto& of : declarations) {
    nlohmann::ordered_json test{{"name", report::full_name(of.entry, of.test)},
                                {"entry", of.entry},
                                {"test", of.test},
                                {"verdict", name_of(of.verdict)},
                                {"class", of.memory_class},
                                {"leased_bytes", of.leased},
                                {"measured_bytes", of.measured},
                                {"exact", of.exact},
                                {"runs", of.runs}};
    test["declared_bytes"] = of.declared ? nlohmann::ordered_json(*of.declared) : nlohmann::ordered_json();
    test["advised_bytes"] =
        of.advised > Bytes{} ? nlohmann::ordered_json(of.advised.count()) : nlohmann::ordered_json();
    json["tests"].push_back(std::move(test));
  }
  for (const auto& edit : edits) {
    json["edits"].push_back({{"name", edit.name},
                             {"file", edit.path},
                             {"line", edit.line},
                             {"before", edit.before},
                             {"after", edit.after},
                             {"why_not", edit.why_not}});
  }
  return json;
}

void print_table(const std::vector<Declaration>& declarations) {
  Table table{{{"TEST"},
               {"DECLARED", Align::right},
               {"MEASURED", Align::right},
               {"RUNS", Align::right},
               {""},
               {"ADVISED", Align::right}}};
  std::size_t fitting = 0;
  std::size_t unknown = 0;
  for (const auto& of : declarations) {
    fitting += of.verdict == Verdict::fits ? 1 : 0;
    unknown += of.verdict == Verdict::unknown ? 1 : 0;
    if (of.verdict == Verdict::over || of.verdict == Verdict::under) {
      table.add_row({report::full_name(of.entry, of.test), declared_text(of), measured_text(of),
                     std::to_string(of.runs), std::string{name_of(of.verdict)}, to_string(of.advised)});
    }
  }
  if (fitting + unknown < declarations.size()) {
    fmt::print("{}\n", table.to_string());
  }
  fmt::print("{} of {} tests fit what they declare{}.\n", fitting, declarations.size(),
             unknown == 0 ? "" : fmt::format("; of {} the use is not known, or only a lower bound of it", unknown));
}

/// Whether the program's file is another one now, or is gone from the machine where the test ran.
bool has_changed(const report::LoggedProgram& program, const std::string& host) {
  if (program.path.empty()) {
    return false; // nobody knows
  }
  const auto now = platform::stamp_of(program.path);
  return now ? !(*now == platform::FileStamp{program.bytes, program.modified}) : host == platform::host_name();
}

/// Leaves of each test the leases of its newest run, if its program is still the same. The others are of tests that may
/// have been mended, renamed or deleted. Throws Error if none is left.
void keep_what_is_true_now(std::vector<report::RunLogFile>& logs) {
  std::set<std::pair<std::string, std::string>> seen;
  std::set<std::string> changed;
  bool any = false;
  for (auto& [path, run] : logs) {
    std::set<std::pair<std::string, std::string>> of_run;
    std::vector<report::LoggedLease> kept;
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
    fmt::print(stderr, "gputest: left out: runs of {}, which has changed since\n", program);
  }
  if (!any && !changed.empty()) {
    throw Error{"all programs of these tests have changed since they ran, so nothing can be checked. Run ctest first"};
  }
}

/// The tests for which ctest has an entry, if a size may be lowered. None if they cannot be listed: the logs may be of
/// another machine.
std::vector<report::ListedTest> listed_tests(const std::string& folder, const std::vector<Declaration>& declarations) {
  if (std::none_of(declarations.begin(), declarations.end(),
                   [](const Declaration& of) { return of.verdict == Verdict::under; })) {
    return {};
  }
  try {
    return report::listed_tests_of(report::parse_ctest_suite(CtestApart{folder, {}}.list()));
  } catch (const Error&) {
    return {};
  }
}

} // namespace

ExitCode classify_command(const ClassifyArguments& arguments) {
  auto logs = logs_of(arguments.folder, arguments.log);
  if (arguments.check) {
    keep_what_is_true_now(logs);
  }
  std::vector<const report::RunLog*> runs;
  for (const auto& file : logs) {
    runs.push_back(&file.log);
  }
  const auto declarations = report::declarations_of(runs);
  if (declarations.empty()) {
    throw Error{
        "no test in these run logs had a lease, so there is nothing to compare. Run the tests by ctest first, or "
        "name their logs with --log"};
  }
  const auto source = !arguments.source.empty()             ? arguments.source
                      : source_of(arguments.folder).empty() ? source_of(logs.front().log.folder)
                                                            : source_of(arguments.folder);
  auto files = sources_in(source);
  std::set<std::string> compiled;
  for (const auto& of : declarations) {
    compiled.insert(of.declared_in);
  }
  compiled.erase("");
  note_compiled_paths(files, source, arguments.folder, compiled);
  const auto edits = report::find_edits(declarations, files, listed_tests(arguments.folder, declarations));
  const auto saving = report::saving_of(logs.front().log, declarations);
  if (arguments.apply) {
    change_sources(files, edits);
  }
  if (arguments.json) {
    fmt::print("{}", json_text(to_json(declarations, edits, saving)));
  } else {
    print_table(declarations);
    print_edits(edits, arguments.apply);
    if (!edits.empty() && saving.now > 0) {
      fmt::print("\nPlanned for the newest run: {:.1f} s as declared, {:.1f} s as advised.\n", saving.now, saving.then);
    }
    if (!edits.empty() && source.empty()) {
      fmt::print("Where tests declare this is not known: write --source with the folder of the sources.\n");
    }
  }
  const bool over = std::any_of(declarations.begin(), declarations.end(),
                                [](const Declaration& of) { return of.verdict == Verdict::over; });
  return arguments.check && over ? ExitCode::check_failed : ExitCode::done;
}

} // namespace gputest::cli
