// SPDX-License-Identifier: BSD-3-Clause
#include "listing.hpp"

#include "tags.hpp"

#include <gputest/error.hpp>
#include <gputest/settings.hpp>
#include <gputest/test_list.hpp>
#include <gputest/test_run.hpp>

#include <catch2/catch_test_spec.hpp>
#include <catch2/internal/catch_test_case_registry_impl.hpp>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace gputest::catch2 {

namespace {

/// Catch2 compares names without regard to case.
std::string lower_case(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return name;
}

/// What selects the test case of this name on Catch2's command line.
std::string spec_of(const std::string& name) {
  std::string spec;
  for (const char c : name) {
    if (std::string_view{"\\,[]\""}.find(c) != std::string_view::npos || (c == '~' && spec.empty())) {
      spec += '\\';
    }
    spec += c;
  }
  return spec;
}

/// Writes the list for gpu_discover_tests(). Test cases that Catch2 cannot tell apart become one entry.
void list_tests(const std::vector<Catch::TestCaseHandle>& selected, const std::string& file) {
  const auto entry = entry_from_environment().request;
  std::map<std::string, std::string> specs; // of the first test case with such a name
  std::vector<ListedTest> tests;
  for (const auto& test : selected) {
    const auto& info = test.getTestCaseInfo();
    ListedTest listed;
    listed.filter = specs.try_emplace(lower_case(info.name), spec_of(info.name)).first->second;
    listed.test = info.name;
    listed.file = info.lineInfo.file;
    listed.line = static_cast<int>(info.lineInfo.line);
    if (!uses_no_gpu(info)) { // nor does one with wrong tags, which will fail
      listed.request = resolve(needs_of(tags_of(info)), {}, std::nullopt, entry);
    }
    tests.push_back(std::move(listed));
  }
  write_test_list(file, tests);
}

} // namespace

std::vector<std::string> tags_of(const Catch::TestCaseInfo& test) {
  std::vector<std::string> tags;
  for (const auto& tag : test.tags) {
    tags.emplace_back(tag.original.data(), tag.original.size());
  }
  return tags;
}

bool uses_no_gpu(const Catch::TestCaseInfo& test) {
  try {
    const auto needs = needs_of(tags_of(test));
    return needs.no_gpu || (detail::TestRun::of_process().no_gpu() && !needs.says_gpu());
  } catch (const InvalidSetting&) { // that test case will fail
    return true;
  }
}

std::vector<Catch::TestCaseHandle>& all_test_cases(const Catch::IConfig& config) {
  return const_cast<std::vector<Catch::TestCaseHandle>&>(Catch::getAllTestCasesSorted(config)); // NOLINT
}

std::vector<Catch::TestCaseHandle> selected_of(const std::vector<Catch::TestCaseHandle>& all,
                                               const Catch::IConfig& config) {
  const auto& spec = config.testSpec();
  if (spec.hasFilters()) {
    return Catch::filterTests(all, spec, config);
  }
  std::vector<Catch::TestCaseHandle> selected;
  std::copy_if(all.begin(), all.end(), std::back_inserter(selected),
               [](const Catch::TestCaseHandle& test) { return !test.getTestCaseInfo().isHidden(); });
  return selected;
}

void list_if_asked(const std::vector<Catch::TestCaseHandle>& selected) {
  const auto file = test_list_file();
  if (!file) {
    return;
  }
  try {
    list_tests(selected, *file);
  } catch (const Error& error) {
    std::cerr << "gputest: " << error.what() << '\n';
    std::exit(EXIT_FAILURE); // NOLINT(concurrency-mt-unsafe)
  }
  std::exit(EXIT_SUCCESS); // NOLINT(concurrency-mt-unsafe): nothing runs
}

int without_list_option(int argc, char** argv) {
  return static_cast<int>(
      std::remove_if(argv, argv + argc, [](const char* word) { return std::string_view{word} == "--list-tests"; }) -
      argv);
}

} // namespace gputest::catch2
