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
  const std::string program = GPUTEST_RENDEZVOUS;
  write(build + "/CTestTestfile.cmake", "add_test(a [[" + program + "]] a [[" + folder_.path() + "]])\n" + //
                                            "add_test(b [[" + program + "]] b [[" + folder_.path() + "]])\n" +
                                            "set_tests_properties(a b PROPERTIES TIMEOUT 60)\n");
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
  environment.emplace("PWD", filled(folder)); // as a shell tells it
  const Ended ended = ChildProcess{command, environment}.finish();

  const fs::path base = folder_.path();
  Result result;
  result.ran = fs::exists(base / "end-a") && fs::exists(base / "end-b");
  result.together = fs::exists(base / "together");
  result.output = ended.out + ended.err;
  std::ifstream found{base / "found-a"};
  std::getline(found, result.found);
  std::getline(found, result.because);
  return result;
}

} // namespace gputest::tests
