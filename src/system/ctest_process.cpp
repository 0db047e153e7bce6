#include "system/ctest_process.hpp"

#include "policy/ctest_arguments.hpp"
#include "system/ctest_preset.hpp"
#include "system/process.hpp"
#include "system/program_output.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>

namespace gputest::system {

namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

struct Ctest {
  pid_t pid = 0;
  std::string executable; ///< empty where it may not be read
  Arguments arguments;    ///< without the program's name
};

bool is_ctest(const std::string& path) {
  const std::string name = fs::path{path}.filename().string();
  return name == "ctest" || name == "ctest3"; // as some distributions call it beside an older one
}

// The nearest ancestor that runs tests. One that only runs `--build-and-test` may itself be a test of another.
std::optional<Ctest> nearest_ctest(pid_t child) {
  for (auto pid = parent_of(child); pid; pid = parent_of(*pid)) {
    Arguments command = command_line_of(*pid);
    if (command.empty())
      continue;
    const auto executable = executable_of(*pid);
    // Of another user's process only the command line may be read.
    if (!is_ctest(executable.value_or(command.front())))
      continue;
    command.erase(command.begin());
    if (!policy::is_build_and_test(command))
      return Ctest{*pid, executable.value_or(""), std::move(command)};
  }
  return std::nullopt;
}

// The source folder that a build tree was configured for.
std::optional<std::string> home_of_build_tree(const std::string& folder) {
  std::ifstream cache{folder + "/CMakeCache.txt"};
  const std::string key = "CMAKE_HOME_DIRECTORY:INTERNAL=";
  for (std::string line; std::getline(cache, line);)
    if (line.compare(0, key.size(), key) == 0)
      return line.substr(key.size());
  return std::nullopt;
}

// Where ctest may have been started. It reads presets there and then moves to the build tree, so this is known only
// from traces: the build tree's source folder, the shell's PWD, the folder of ctest's parent.
std::vector<std::string> possible_start_folders(pid_t ctest, const std::map<std::string, std::string>& environment) {
  std::vector<std::string> folders;
  const auto add = [&](const std::optional<std::string>& folder) {
    if (folder && std::find(folders.begin(), folders.end(), *folder) == folders.end())
      folders.push_back(*folder);
  };
  const auto now = working_directory_of(ctest);
  if (now)
    add(home_of_build_tree(*now));
  const auto pwd = environment.find("PWD");
  if (pwd != environment.end())
    add(pwd->second);
  if (const auto parent = parent_of(ctest))
    add(working_directory_of(*parent));
  add(now);
  return folders;
}

// The preset as every possible folder that knows it tells it; nullopt if none does, or if they disagree.
std::optional<TestPreset> find_preset(const Ctest& ctest, const std::map<std::string, std::string>& environment,
                                      const std::string& name) {
  const auto file = policy::named_presets_file(ctest.arguments);
  std::optional<TestPreset> found;
  for (const std::string& folder : possible_start_folders(ctest.pid, environment)) {
    const auto preset = read_test_preset(file ? (fs::path{folder} / *file).string() : folder, name);
    if (!preset)
      continue;
    if (found && !(*found == *preset))
      return std::nullopt;
    found = preset;
  }
  return found;
}

// `ctest version 3.25.1`, and more below it.
std::string version_of(const std::string& executable) {
  const auto output = executable.empty() ? std::nullopt : output_of({executable, "--version"});
  const std::string prefix = "ctest version ";
  if (!output || output->compare(0, prefix.size(), prefix) != 0)
    return {};
  return output->substr(prefix.size(), output->find_first_of(" \n", prefix.size()) - prefix.size());
}

policy::CtestSighting look_for_ctest_above(pid_t child) {
  policy::CtestSighting sighting;
  const auto ctest = nearest_ctest(child);
  if (!ctest)
    return sighting;
  sighting.found = true;
  sighting.arguments = ctest->arguments;
  // A test's own environment is a copy of ctest's, as long as the test does not change it.
  auto environment = environment_of(ctest->pid);
  if (!environment)
    environment = environment_of(own_pid());
  const auto& variables = environment ? *environment : std::map<std::string, std::string>{};
  const auto level = variables.find("CTEST_PARALLEL_LEVEL");
  if (level != variables.end())
    sighting.parallel_level = level->second;
  if (const auto name = policy::named_preset(ctest->arguments)) {
    const auto preset = find_preset(*ctest, variables, *name);
    sighting.preset_readable = preset.has_value();
    if (preset)
      sighting.preset_jobs = preset->jobs;
    if (preset && preset->parallel_level)
      sighting.parallel_level = preset->parallel_level;
  }
  if (policy::depends_on_version(sighting))
    sighting.version = version_of(ctest->executable);
  return sighting;
}

} // namespace

policy::CtestSighting look_for_ctest() {
  try {
    return look_for_ctest_above(own_pid());
  } catch (const std::exception&) {
    return {};
  }
}

} // namespace gputest::system
