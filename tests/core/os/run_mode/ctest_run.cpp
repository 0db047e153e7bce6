// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/run_mode/ctest_run.hpp"

#include <filesystem>
#include <fstream>

namespace gputest::tests {

namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream{path} << text;
}

} // namespace

CtestRun::CtestRun(const std::map<std::string, std::string>& files) {
  const std::string build = folder_.path() + "/build";
  write(build + "/CTestTestfile.cmake", "add_test(a /bin/sh -c [[exec '" GPUTEST_CTEST_OBSERVER "' find > '" +
                                            folder_.path() + "/found']])\nadd_test(b /bin/true)\n");
  write(build + "/CMakeCache.txt", "CMAKE_HOME_DIRECTORY:INTERNAL=" + folder_.path() + "\n");
  for (const auto& [name, text] : files)
    write(fs::path{folder_.path()} / name, filled(text));
}

std::string CtestRun::filled(std::string text) const {
  const std::string mark = "@DIR@";
  for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark))
    text.replace(at, mark.size(), folder_.path());
  return text;
}

CtestRun::Result CtestRun::run(const std::vector<std::string>& arguments, const ChildProcess::Environment& variables,
                               const std::string& folder) {
  std::vector<std::string> command{"/usr/bin/env", "-C", filled(folder), GPUTEST_CTEST};
  for (const std::string& argument : arguments)
    command.push_back(filled(argument));
  ChildProcess::Environment environment;
  for (const auto& [name, value] : variables)
    environment.emplace(name, filled(value));
  environment.emplace("PATH", "/usr/bin:/bin");
  const Ended ended = ChildProcess{command, environment}.finish();

  Result result;
  result.output = ended.out + ended.err;
  result.together = result.output.find("Start 2: b") < result.output.find("1/2 Test"); // it prints what it starts
  std::ifstream found{folder_.path() + "/found"};
  result.ran = std::getline(found, result.found) && std::getline(found, result.because);
  return result;
}

} // namespace gputest::tests
