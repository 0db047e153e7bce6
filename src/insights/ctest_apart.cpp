// SPDX-License-Identifier: BSD-3-Clause
#include "insights/ctest_apart.hpp"

#include "core/os/program_output.hpp"
#include "core/policy/shell_words.hpp"

#include <gputest/error.hpp>

#include <filesystem>
#include <fstream>
#include <utility>

namespace gputest::insights {

CtestApart::CtestApart(const std::string& folder, std::vector<std::string> options)
    : folder_{std::filesystem::absolute(folder).string()}, options_{std::move(options)} {
  std::ofstream{scratch_.path() + "/CTestTestfile.cmake"} << "subdirs([==[" << folder_ << "]==])\n";
}

std::vector<std::string> CtestApart::command(std::vector<std::string> options) const {
  options.insert(options.begin(), {"ctest", "--test-dir", scratch_.path()});
  options.insert(options.end(), options_.begin(), options_.end());
  return options;
}

std::vector<std::string> CtestApart::command_in_place(const std::vector<std::string>& options) const {
  std::vector<std::string> words{"ctest", "--test-dir", folder_};
  words.insert(words.end(), options_.begin(), options_.end());
  words.insert(words.end(), options.begin(), options.end());
  return words;
}

std::string CtestApart::list() const {
  const std::vector<std::string> listing{"--show-only=json-v1"};
  auto in_path = command(listing);
  in_path.insert(in_path.begin(), "/usr/bin/env");
  if (auto output = os::output_of(in_path)) {
    return *std::move(output);
  }
  throw Error{"ctest does not list its tests. To see why: " + policy::shell_words(command_in_place(listing)) +
              ". Write --test-dir with the folder in which you start ctest"};
}

} // namespace gputest::insights
