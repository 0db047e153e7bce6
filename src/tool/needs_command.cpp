// SPDX-License-Identifier: BSD-3-Clause
#include "tool/commands.hpp"

#include "core/os/file.hpp"
#include "core/policy/text.hpp"
#include "core/settings/settings.hpp"
#include "tool/ctest_facts.hpp"
#include "tool/needs.hpp"
#include "tool/table.hpp"

#include <gputest/error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <utility>

namespace gputest::tool {

namespace {

namespace fs = std::filesystem;
using namespace literals;

constexpr const char* needs_help =
    R"text(Reads what the measured tests took in the last five runs of each, and lists the CTest entries that took more than 256 MiB, or
more than they declare, or that could declare less:
  over      its test took more than it declares. Raise that, or other tests may run out of memory
  under     half of what its test declares would be enough. With less, more tests can run at once
  -         in DECLARED: nothing is declared. The entry asks for the memory in NEEDS
'at least' marks a sample, which is a lower bound. NEEDS is what the next run of an entry without a declared size asks for: the
most of the last five runs, in steps of 1/16 (of a sample: 25 % and 256 MiB more). It falls when five runs agree.

--export FILE adds the figures to a file for the project's sources, which gpu_discover_tests(... NEEDS FILE) reads: so a machine
without earlier runs knows them. It has a line for each entry that took more than 256 MiB of a real device. A figure never falls
there, and a line stays if its test is gone: remove the file to begin anew. FILE may be '-', the standard output.

--check FILE looks at the newest run of ctest or pytest. It fails if an entry took more than its test declares, or, where nothing
is declared, more than the file says, or more than 256 MiB and is not in the file. Without FILE it looks only at what is declared.

Examples:
  gputest needs --test-dir build
  gputest needs --test-dir build --export tests/gpu_needs.jsonl
  gputest needs --test-dir build --check tests/gpu_needs.jsonl    in continuous integration, after ctest

--json prints one object:
  version      1; goes up when a key is removed or changes its meaning
  tests        list of objects: test (CTest's name), device_gib, simulated, declared_bytes (null: nothing, or whole devices),
               estimated (nothing is declared), took_bytes (the most of the last runs), exact, runs, needs_bytes, verdict (over,
               under, or empty)
)text";

constexpr Bytes smallest_of_interest = 256_MiB;
constexpr const char* standard_output = "/dev/stdout";

struct NeedsOptions {
  std::string folder = "."; ///< where ctest was started
  std::string log;          ///< a run log, or a folder of them; empty: GPUTEST_LOG, or that of the build tree
  std::string export_to;
  std::optional<std::string> check; ///< empty: without a file; nullopt: not asked for
  bool json = false;
};

/// The one of the last runs that took the most.
const Took& most_of(const Need& need) {
  return *std::max_element(need.took.begin(), need.took.end(),
                           [](const Took& a, const Took& b) { return a.bytes < b.bytes; });
}

const char* verdict_on(const Need& need) {
  const auto& newest = need.took.back();
  if (newest.over > Bytes{} || newest.is_over()) { // as an earlier gputest has kept it
    return "over";
  }
  const auto declared = newest.declared.value_or(Bytes{});
  const bool is_known = std::all_of(need.took.begin(), need.took.end(), [](const Took& took) { return took.exact; });
  const bool would_do = declared > smallest_of_interest && need.figure + need.figure <= declared &&
                        declared - need.figure >= smallest_of_interest;
  return !newest.estimated && is_known && would_do ? "under" : "";
}

std::string number_of(std::size_t count, const char* what, const char* plural) {
  return fmt::format("{} {}", count, count == 1 ? what : plural);
}

void print_table(const Needs& needs) {
  Table table{{{"TEST"},
               {"DEVICE", Align::right},
               {"DECLARED", Align::right},
               {"TOOK", Align::right},
               {"NEEDS", Align::right},
               {"RUNS", Align::right},
               {""}}};
  std::size_t shown = 0;
  std::size_t over = 0;
  for (const auto& [key, need] : needs) {
    const std::string verdict = verdict_on(need);
    const auto& most = most_of(need);
    const auto& newest = need.took.back();
    over += verdict == "over" ? 1 : 0;
    if (verdict.empty() && most.bytes <= smallest_of_interest) {
      continue;
    }
    ++shown;
    table.add_row({key.test, fmt::format("{}{} GiB", key.simulated ? "simulated " : "", key.device_gib),
                   newest.estimated  ? "-"
                   : newest.declared ? to_string(*newest.declared)
                                     : "large",
                   (most.exact ? "" : "at least ") + to_string(most.bytes), to_string(need.figure),
                   std::to_string(need.took.size()), verdict});
  }
  if (shown > 0) {
    fmt::print("{}\n", table.to_string());
  }
  fmt::print("{} measured: {} shown, {} took more than declared.\n", number_of(needs.size(), "entry", "entries"), shown,
             over);
}

nlohmann::ordered_json to_json(const Needs& needs) {
  nlohmann::ordered_json json{{"version", json_version}, {"tests", nlohmann::ordered_json::array()}};
  for (const auto& [key, need] : needs) {
    const auto& newest = need.took.back();
    nlohmann::ordered_json test{{"test", key.test}, {"device_gib", key.device_gib}, {"simulated", key.simulated}};
    test["declared_bytes"] = newest.declared && !newest.estimated ? nlohmann::ordered_json(newest.declared->count())
                                                                  : nlohmann::ordered_json();
    test["estimated"] = newest.estimated;
    test["took_bytes"] = most_of(need).bytes.count();
    test["exact"] = most_of(need).exact;
    test["runs"] = need.took.size();
    test["needs_bytes"] = need.figure.count();
    test["verdict"] = verdict_on(need);
    json["tests"].push_back(std::move(test));
  }
  return json;
}

CommittedNeeds read_committed(const std::string& file, bool may_be_missing) try {
  const auto text = os::contents_of(file);
  if (!text && !may_be_missing) {
    throw Error{"it cannot be read. Write it with 'gputest needs --export'"};
  }
  return parse_committed(text.value_or(""));
} catch (const Error& error) {
  throw Error{fmt::format("{}: {}", file, error.what())};
}

void export_needs(const Needs& needs, const std::string& file) {
  std::error_code none;
  const bool is_read = !fs::exists(file, none) || fs::is_regular_file(file, none); // a pipe has no figures, and blocks
  auto committed = is_read ? read_committed(file, true) : CommittedNeeds{};
  std::size_t simulated = 0;
  std::size_t small = 0;
  for (const auto& [key, need] : needs) {
    if (key.simulated) {
      ++simulated;
    } else if (most_of(need).bytes <= smallest_of_interest) {
      ++small;
    } else {
      auto& figure = committed[key.test][key.device_gib];
      figure = std::max(figure, need.figure);
    }
  }
  if (!(std::ofstream{file} << to_text(committed) << std::flush)) {
    throw Error{fmt::format("{} cannot be written. Write --export with a file in a folder that is there", file)};
  }
  const bool is_stdout = !fs::is_regular_file(file, none) || fs::equivalent(file, standard_output, none);
  fmt::print(is_stdout ? stderr : stdout,
             "{}: {}. Left out: {} measured on simulated devices, {} that took no more than {}.\n", file,
             number_of(committed.size(), "entry", "entries"), simulated, small, to_string(smallest_of_interest));
}

/// Of the newest run of ctest: the entries of earlier ones may have been mended, renamed or deleted.
ExitCode check(const Needs& needs, const std::string& file) {
  const auto committed = file.empty() ? CommittedNeeds{} : read_committed(file, false);
  std::size_t failed = 0;
  const auto fail = [&](const std::string& test, const std::string& why) {
    ++failed;
    fmt::print("{}: {}\n", printable(test), why);
  };
  for (const auto& [key, need] : needs) {
    const auto& took = need.took.back();
    const auto text_of = [&](Bytes bytes) {
      return fmt::format("took {}{}", took.exact ? "" : "at least ", to_string(bytes));
    };
    const auto text = text_of(took.bytes);
    if (took.over > Bytes{}) {
      fail(key.test,
           fmt::format("{}, and declares {}. Declare more", text_of(took.over), to_string(took.declared_by_over)));
    } else if (took.estimated && !key.simulated && !file.empty() && took.bytes > smallest_of_interest) {
      const auto known = committed.find(key.test);
      const auto figure = known == committed.end() ? std::nullopt : figure_for(known->second, key.device_gib);
      const auto remedy = fmt::format("Declare it, or type: gputest needs --export {}", file);
      if (!figure) {
        fail(key.test, fmt::format("{}, and is not in {}. {}", text, file, remedy));
      } else if (took.bytes > *figure) {
        fail(key.test, fmt::format("{}, and {} says {}. {}", text, file, to_string(*figure), remedy));
      }
    }
  }
  fmt::print("{} too much.\n", number_of(failed, "entry took", "entries took"));
  return failed > 0 ? ExitCode::check_failed : ExitCode::done;
}

ExitCode show_needs(const NeedsOptions& options) {
  const auto folder =
      !options.log.empty() ? options.log : settings::chosen_log_folder().value_or(options.folder + "/Testing/gputest");
  const auto newest = options.check ? newest_run(folder) : folder;
  const auto needs = needs_in(newest, false);
  if (needs.empty()) {
    const auto run = options.log.empty() ? run_by_ctest(options.folder) : RunByCtest::unknown;
    if (run == RunByCtest::others) {
      fmt::print("gputest has measured no test that ctest has run in {}: {}\n", options.folder, ran_without_gputest);
      return ExitCode::done;
    }
    if (run == RunByCtest::nothing) {
      throw Error{nothing_ran(options.folder)};
    }
    if (run == RunByCtest::entries) {
      throw Error{fmt::format("gputest has measured none of the tests that ctest has run in {}: each was skipped, as "
                              "where there is no GPU, used none, or did not come to its end. This says which and why: "
                              "{}",
                              options.folder,
                              policy::shell_words({"gputest", "report", "--test-dir", options.folder}))};
    }
    if (newest != folder) {
      throw Error{fmt::format("the newest run of the tests has measured none of them: each was skipped, as where there "
                              "is no GPU, used none, or did not come to its end. This says which and why: {}",
                              policy::shell_words({"gputest", "report", "--log", newest}))};
    }
    throw Error{
        fmt::format("there is no run log in {} in which a test was measured. Run the tests with ctest, and write "
                    "--test-dir with the folder in which ctest was started, or --log with a folder of logs",
                    folder)};
  }
  if (options.check) {
    return check(needs, *options.check);
  }
  if (!options.export_to.empty()) {
    export_needs(needs, options.export_to == "-" ? standard_output : options.export_to);
  } else if (options.json) {
    fmt::print("{}", json_text(to_json(needs)));
  } else {
    print_table(needs);
  }
  return ExitCode::done;
}

} // namespace

void add_needs(CommandLine& line) {
  const auto options = std::make_shared<NeedsOptions>();
  auto& command = line.add({"needs", "Compare the memory that tests took with what they declare"},
                           needs_help + exit_codes({{ExitCode::check_failed, "--check: an entry took too much"}}),
                           [options](const auto& /*words*/) { return show_needs(*options); });
  add_place_of_logs(command, options->folder, options->log);
  auto* json = command.add_flag("--json", options->json, "print JSON, for programs");
  auto* writes =
      command.add_option("--export", options->export_to, "add the figures to a file for the project's sources")
          ->type_name("FILE")
          ->excludes(json);
  command
      .add_option_function<std::string>(
          "--check", [options](const std::string& file) { options->check = file; },
          "exit with 1 if an entry took more than it declares, or than this file says")
      ->type_name("[FILE]")
      ->expected(0, 1)
      ->excludes(json)
      ->excludes(writes);
}

} // namespace gputest::tool
