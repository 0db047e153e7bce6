// SPDX-License-Identifier: BSD-3-Clause
#include "insights/ctest_list.hpp"

#include "core/os/environment.hpp"
#include "core/os/file.hpp"
#include "core/os/program_output.hpp"
#include "core/policy/text.hpp"
#include "insights/ctest_suite.hpp"
#include "tool/command_line.hpp"

#include <gputest/error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace gputest::insights {

namespace {

using nlohmann::json;

/// `--name` of `--name=value`. CMake 4.2 knows `-R=value`, too.
std::string name_of(const std::string& word) { return word.substr(0, word.find('=')); }

/// Options of ctest, each between blanks.
constexpr std::string_view selecting =
    " -R --tests-regex -E --exclude-regex -L -LE --label-regex --label-exclude --tests-from-file"
    " --exclude-from-file ";
constexpr std::string_view refused =
    " -I --tests-information -U --union --rerun-failed --test-dir -N --show-only -V -VV --verbose"
    " --extra-verbose --debug -Q --quiet -O --output-log --output-on-failure --output-junit"
    " --stop-on-failure --stop-time --progress -W --max-width -D --dashboard -M --test-model -T"
    " --test-action -S --script -SP --script-new-process --build-and-test --submit-index -A --add-notes"
    " --preset --list-presets ";

/// Whether the list has the `--name` of `--name=value`.
bool has(std::string_view options, const std::string& word) {
  return options.find(" " + name_of(word) + " ") != std::string_view::npos;
}

/// Whether options end here: what follows is for the tests (CMake 4.4).
bool ends_options(const std::string& word) { return word == "--"; }

/// What tells tests of one name apart. A list's DEPENDS has only tests of that list. The options of ctest decide
/// whether cases have workers, and so an argument of gputest-entry (workers.cmake) and a RESOURCE_LOCK.
bool are_same(const json& a, const json& b) {
  const auto key = [](const json& test) {
    auto facts = json::array();
    for (const auto& word : test.value("command", json::array())) {
      if (word.get<std::string>().rfind("--own-process=", 0) != 0) {
        facts.push_back(word);
      }
    }
    for (const auto& property : test.value("properties", json::array())) {
      if (property.at("name") != "DEPENDS" && property.at("name") != "RESOURCE_LOCK") {
        facts.push_back(property);
      }
    }
    return facts;
  };
  return a.at("name") == b.at("name") && key(a) == key(b);
}

/// Those of a property of a test.
std::vector<std::string> fixtures_of(const json& test, const std::string& property) {
  for (const auto& each : test.value("properties", json::array())) {
    if (each.at("name") == property) {
      return each.at("value").get<std::vector<std::string>>();
    }
  }
  return {};
}

} // namespace

std::string list_ctest(const std::string& folder, const std::vector<std::string>& options) {
  auto scratch = os::read_variable("TMPDIR").value_or("/tmp") + "/gputest-ctest-XXXXXX";
  if (::mkdtemp(scratch.data()) == nullptr) {
    throw Error{"no temporary folder can be made: " + scratch + ": " + os::reason(errno) +
                ". Set TMPDIR to a folder in which you may write"};
  }
  const std::shared_ptr<void> remover{nullptr, [&](void*) {
                                        std::error_code ignored;
                                        std::filesystem::remove_all(scratch, ignored);
                                      }};
  const auto tests = std::filesystem::absolute(folder).string();
  std::ofstream{scratch + "/CTestTestfile.cmake"} << "subdirs([==[" << tests << "]==])\n";
  for (const std::string custom : {"/CTestCustom.cmake", "/CTestCustom.ctest"}) {
    if (std::filesystem::exists(tests + custom)) {
      std::ofstream{scratch + custom} << "include([==[" << tests << custom << "]==])\n";
    }
  }
  const auto command_in = [&](const std::string& where) {
    std::vector<std::string> words{"ctest", "--test-dir", where, "--show-only=json-v1"};
    words.insert(words.end(), options.begin(), options.end());
    return words;
  };
  auto in_path = command_in(scratch);
  in_path.insert(in_path.begin(), "/usr/bin/env");
  if (auto output = os::output_of(in_path)) {
    if (output->find_first_not_of(" \n") == std::string::npos || output->at(output->find_first_not_of(" \n")) != '{') {
      throw Error{"ctest lists no tests with the options '" + policy::shell_words(options) +
                  "': it does something else. Leave out such options, as --version and --help"};
    }
    return *std::move(output);
  }
  throw Error{"ctest does not list its tests. To see why: " + policy::shell_words(command_in(tests)) +
              ". Write --test-dir with the folder in which you start ctest"};
}

std::vector<std::string> options_of_task(const std::vector<std::string>& options) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const auto& word = options[i];
    if (ends_options(word)) {
      kept.insert(kept.end(), options.begin() + static_cast<std::ptrdiff_t>(i), options.end());
      break;
    }
    if (has(refused, word)) {
      throw tool::WrongCommandLine{
          fmt::format("'{}' of ctest cannot be used here: each task has its own -I and --output-junit, and ctest's "
                      "output says which tests have ended. Leave it out; the output of tests is in --junit",
                      word)};
    }
    if (!has(selecting, word)) {
      kept.push_back(word);
    } else if (word == name_of(word)) {
      ++i;
    }
  }
  return kept;
}

Repeats repeats_of(const std::vector<std::string>& options) {
  auto repeats = Repeats::none;
  for (std::size_t i = 0; i < options.size() && !ends_options(options[i]); ++i) {
    if (options[i].rfind("--repeat", 0) == 0) {
      const auto what = options[i] + " " + (i + 1 < options.size() ? options[i + 1] : "");
      const bool fails_once = repeats != Repeats::otherwise && what.find("until-fail") != std::string::npos;
      repeats = fails_once ? Repeats::until_fail : Repeats::otherwise;
    }
  }
  return repeats;
}

std::vector<std::size_t> numbers_of_tests(const std::string& selected, const std::string& all) try {
  std::vector<std::size_t> numbers;
  const auto every = json::parse(all);
  const auto& tests = every.at("tests");
  std::size_t number = 0;
  const auto some = json::parse(selected);
  for (const auto& test : some.at("tests")) {
    while (number < tests.size() && !are_same(test, tests[number])) { // both lists have the same order
      ++number;
    }
    if (number++ == tests.size()) {
      throw Error{"ctest lists " + test.at("name").get<std::string>() +
                  " with these options, and not without them: the tests have just changed. Start again"};
    }
    numbers.push_back(number);
  }
  return numbers;
} catch (const json::exception&) {
  throw Error{no_list_of_ctest};
}

std::vector<std::string> with_fixtures_of(const std::vector<std::size_t>& numbers, const std::string& all,
                                          std::vector<std::string> options) try {
  const auto every = json::parse(all);
  const auto& tests = every.at("tests");
  const std::set<std::size_t> selected{numbers.begin(), numbers.end()};
  std::set<std::string> required;
  for (const auto number : numbers) {
    for (auto& fixture : fixtures_of(tests.at(number - 1), "FIXTURES_REQUIRED")) {
      required.insert(std::move(fixture));
    }
  }
  std::vector<std::string> of_fixtures;
  for (const auto& [property, option] : {std::pair{"FIXTURES_SETUP", "-FS"}, std::pair{"FIXTURES_CLEANUP", "-FC"}}) {
    std::map<std::string, std::string> kept; // fixtures, each with one of its tests
    std::map<std::string, std::string> left_out;
    for (std::size_t i = 0; i < tests.size(); ++i) {
      for (const auto& fixture : fixtures_of(tests[i], property)) {
        (selected.count(i + 1) != 0 ? kept : left_out)[fixture] = tests[i].at("name").get<std::string>();
      }
    }
    std::string expression;
    for (const auto& [fixture, test] : left_out) {
      if (required.count(fixture) == 0) {
        continue;
      }
      if (const auto other = kept.find(fixture); other != kept.end()) {
        throw tool::WrongCommandLine{fmt::format(
            "ctest's options leave out the test {} of the fixture {}, and not {}: a task can only leave out "
            "both. Write options that select both or none",
            test, fixture, other->second)};
      }
      expression += (expression.empty() ? "" : "|") + policy::exact_regex(fixture);
    }
    if (!expression.empty()) {
      of_fixtures.insert(of_fixtures.end(), {option, expression});
    }
  }
  options.insert(std::find_if(options.begin(), options.end(), ends_options), of_fixtures.begin(), of_fixtures.end());
  return options;
} catch (const json::exception&) {
  throw Error{no_list_of_ctest};
}

} // namespace gputest::insights
