// SPDX-License-Identifier: BSD-3-Clause
#include "insights/ctest_list.hpp"

#include "core/os/environment.hpp"
#include "core/os/file.hpp"
#include "core/os/program_output.hpp"
#include "core/policy/text.hpp"

#include <gputest/error.hpp>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace gputest::insights {

namespace {

/// A folder for ctest's files that are nobody else's. Removed with all that is in it.
class TemporaryFolder {
public:
  TemporaryFolder() {
    if (::mkdtemp(path_.data()) == nullptr) {
      throw Error{"no temporary folder can be made: " + path_ + ": " + os::reason(errno) +
                  ". Set TMPDIR to a folder in which you may write"};
    }
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

private:
  std::string path_ = os::read_variable("TMPDIR").value_or("/tmp") + "/gputest-ctest-XXXXXX";
};

} // namespace

std::string list_ctest(const std::string& folder, const std::vector<std::string>& options) {
  const TemporaryFolder temporary;
  const auto tests = std::filesystem::absolute(folder).string();
  std::ofstream{temporary.path() + "/CTestTestfile.cmake"} << "subdirs([==[" << tests << "]==])\n";
  if (const auto custom = tests + "/CTestCustom.cmake"; std::filesystem::exists(custom)) {
    std::ofstream{temporary.path() + "/CTestCustom.cmake"} << "include([==[" << custom << "]==])\n";
  }
  const auto command_in = [&](const std::string& where) {
    std::vector<std::string> words{"ctest", "--test-dir", where, "--show-only=json-v1"};
    words.insert(words.end(), options.begin(), options.end());
    return words;
  };
  auto in_path = command_in(temporary.path());
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

} // namespace gputest::insights
