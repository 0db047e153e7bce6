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

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>
#include <system_error>

namespace gputest::insights {

namespace {

using nlohmann::json;

/// `--name` of `--name=value`.
std::string name_of(const std::string& word) {
  return word.rfind("--", 0) == 0 ? word.substr(0, word.find('=')) : word;
}

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

/// What tells tests of one name apart. A list's DEPENDS has only tests of that list.
bool are_same(const json& a, const json& b) {
  const auto key = [](const json& test) {
    auto facts = json::array();
    facts.push_back(test.value("command", json{}));
    for (const auto& property : test.value("properties", json::array())) {
      if (property.at("name") != "DEPENDS") {
        facts.push_back(property);
      }
    }
    return facts;
  };
  return a.at("name") == b.at("name") && key(a) == key(b);
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
  if (const auto custom = tests + "/CTestCustom.cmake"; std::filesystem::exists(custom)) {
    std::ofstream{scratch + "/CTestCustom.cmake"} << "include([==[" << custom << "]==])\n";
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
  for (std::size_t i = 0; i < options.size(); ++i) {
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

} // namespace gputest::insights
