// SPDX-License-Identifier: BSD-3-Clause
#include "insights/ctest_list.hpp"

#include "core/os/program_output.hpp"
#include "core/os/scratch_folder.hpp"
#include "core/policy/shell_words.hpp"

#include <gputest/error.hpp>

#include <filesystem>
#include <fstream>

namespace gputest::insights {

std::string list_ctest(const std::string& folder, const std::vector<std::string>& options) {
  const os::ScratchFolder scratch;
  const auto tests = std::filesystem::absolute(folder).string();
  std::ofstream{scratch.path() + "/CTestTestfile.cmake"} << "subdirs([==[" << tests << "]==])\n";
  const auto command_in = [&](const std::string& where) {
    std::vector<std::string> words{"ctest", "--test-dir", where, "--show-only=json-v1"};
    words.insert(words.end(), options.begin(), options.end());
    return words;
  };
  auto in_path = command_in(scratch.path());
  in_path.insert(in_path.begin(), "/usr/bin/env");
  if (auto output = os::output_of(in_path)) {
    return *std::move(output);
  }
  throw Error{"ctest does not list its tests. To see why: " + policy::shell_words(command_in(tests)) +
              ". Write --test-dir with the folder in which you start ctest"};
}

} // namespace gputest::insights
