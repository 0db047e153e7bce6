// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/ctest_process.hpp"

#include "core/os/ctest_preset.hpp"
#include "core/os/file_stamp.hpp"
#include "core/os/process.hpp"
#include "core/os/program_output.hpp"
#include "core/policy/ctest_arguments.hpp"

#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>
#include <utility>

namespace gputest::os {

namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

struct Ctest {
  pid_t pid = 0;
  std::string executable; ///< empty if it may not be read
  Arguments arguments;    ///< without the program's name
};

bool is_ctest(const std::string& path) {
  const std::string name = fs::path{path}.filename().string();
  return name == "ctest" || name == "ctest3"; // as some distributions call it beside an older one
}

pid_t& ctest_of_worker() {
  static pid_t pid = 0;
  return pid;
}

// The nearest ancestor that runs tests. One that only runs `--build-and-test` may itself be a test of another.
std::optional<Ctest> nearest_ctest(pid_t child) {
  const auto first = ctest_of_worker() > 0 && child == own_pid() ? std::optional{ctest_of_worker()} : parent_of(child);
  for (auto pid = first; pid; pid = parent_of(*pid)) {
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

/// Where a ctest runs, and its own log.
struct CtestPlace {
  std::string folder;
  std::uint64_t log = 0; ///< FileStamp::id
};

/// It moves into a test's working directory while it starts that test, so its own is right only mostly: the log that it
/// keeps open says it. It may have inherited that of a ctest above it, which has a lower number.
std::optional<CtestPlace> place_of(pid_t ctest) {
  const std::string log = "/Testing/Temporary/LastTest";
  std::optional<CtestPlace> place;
  int highest = -1;
  std::error_code error;
  for (fs::directory_iterator file{"/proc/" + std::to_string(ctest) + "/fd", error}, end; !error && file != end;
       file.increment(error)) {
    std::error_code closed;
    const auto path = fs::read_symlink(file->path(), closed).string();
    const auto at = path.rfind(log);
    const int number = std::stoi(file->path().filename().string());
    if (!closed && at != std::string::npos && at > 0 && number > highest) {
      highest = number;
      const auto stamp = stamp_of(file->path().string());
      place = CtestPlace{path.substr(0, at), stamp ? stamp->id : 0};
    }
  }
  if (const auto folder = place ? std::nullopt : working_directory_of(ctest)) {
    place = CtestPlace{*folder};
  }
  return place;
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

// `ctest version 3.25.1`, and more below it.
std::string version_of(const std::string& executable) {
  const auto output = executable.empty() ? std::nullopt : output_of({executable, "--version"});
  const std::string prefix = "ctest version ";
  if (!output || output->compare(0, prefix.size(), prefix) != 0)
    return {};
  return output->substr(prefix.size(), output->find_first_of(" \n", prefix.size()) - prefix.size());
}

// ctest reads presets where it is started and then moves to the build tree. Where it was started is known only from
// traces.
class PresetSearch {
public:
  PresetSearch(pid_t ctest, std::string preset, std::optional<std::string> file)
      : ctest_{ctest}, preset_{std::move(preset)}, file_{std::move(file)} {}

  // nullopt if no folder knows the preset, or if it cannot be told which of two is meant.
  [[nodiscard]] std::optional<TestPreset> find(const Variables& variables) const {
    const auto build_tree = working_directory_of(ctest_);
    // Presets lie in the source folder, and a build tree knows its own.
    if (auto preset = build_tree ? preset_in(home_of_build_tree(*build_tree)) : std::nullopt)
      return preset;
    // A shell tells where it is; other parents may have stayed where they are.
    const auto pwd = variables.find("PWD");
    const auto in_pwd = pwd == variables.end() ? std::nullopt : preset_in(pwd->second);
    const auto parent = parent_of(ctest_);
    const auto in_parents = parent ? preset_in(working_directory_of(*parent)) : std::nullopt;
    if (in_pwd && in_parents && !(*in_pwd == *in_parents))
      return std::nullopt;
    return in_pwd ? in_pwd : in_parents;
  }

private:
  [[nodiscard]] std::optional<TestPreset> preset_in(const std::optional<std::string>& folder) const {
    if (!folder)
      return std::nullopt;
    return read_test_preset(file_ ? (fs::path{*folder} / *file_).string() : *folder, preset_);
  }

  pid_t ctest_;
  std::string preset_;
  std::optional<std::string> file_;
};

// Older versions do not know --presets-file and read the usual files.
std::optional<std::string> presets_file_of(const Ctest& ctest) {
  auto file = policy::named_presets_file(ctest.arguments);
  if (!file || policy::rules_of(version_of(ctest.executable)) < policy::CtestRules::v4_4)
    return std::nullopt;
  return file;
}

/// The environment of a ctest. A test's own environment is a copy of it, as long as the test does not change it.
Variables variables_of(const Ctest& ctest) {
  auto environment = environment_of(ctest.pid);
  if (!environment)
    environment = environment_of(own_pid());
  return environment.value_or(Variables{});
}

std::optional<TestPreset> preset_of(const Ctest& ctest, const std::string& name, const Variables& variables) {
  return PresetSearch{ctest.pid, name, presets_file_of(ctest)}.find(variables);
}

policy::CtestSighting look_for_ctest_above(pid_t child) {
  policy::CtestSighting sighting;
  const auto ctest = nearest_ctest(child);
  if (!ctest)
    return sighting;
  sighting.found = true;
  sighting.arguments = ctest->arguments;
  const Variables variables = variables_of(*ctest);
  const auto level = variables.find("CTEST_PARALLEL_LEVEL");
  if (level != variables.end())
    sighting.parallel_level = level->second;
  if (const auto name = policy::named_preset(ctest->arguments)) {
    const auto preset = preset_of(*ctest, *name, variables);
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

void set_ctest_of_process(pid_t ctest) { ctest_of_worker() = ctest; }

bool is_worker() { return ctest_of_worker() > 0; }

policy::CtestSighting look_for_ctest() {
  try {
    return look_for_ctest_above(own_pid());
  } catch (const std::exception&) {
    return {};
  }
}

UsersResourceSpec find_users_resource_spec() {
  try {
    const auto ctest = nearest_ctest(own_pid());
    if (!ctest)
      return UsersResourceSpec::none;
    if (policy::names_resource_spec(ctest->arguments))
      return UsersResourceSpec::named;
    if (policy::script_option(ctest->arguments, policy::CtestRules::v3_25) ||
        policy::names_several_presets(ctest->arguments))
      return UsersResourceSpec::possible;
    const auto name = policy::named_preset(ctest->arguments);
    if (!name)
      return UsersResourceSpec::none;
    const auto preset = preset_of(*ctest, *name, variables_of(*ctest));
    if (!preset)
      return UsersResourceSpec::possible;
    return preset->has_resource_spec ? UsersResourceSpec::named : UsersResourceSpec::none;
  } catch (const std::exception&) {
    return UsersResourceSpec::possible;
  }
}

std::optional<RunningCtest> find_running_ctest() {
  try {
    const auto ctest = nearest_ctest(own_pid());
    const auto start = ctest ? start_time_of(ctest->pid) : std::nullopt;
    const auto place = ctest ? place_of(ctest->pid) : std::nullopt;
    return start && place ? std::optional{RunningCtest{ctest->pid, *start, place->folder, place->log}} : std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::vector<std::string> options_of_ctest() {
  try {
    const auto ctest = nearest_ctest(own_pid());
    const auto place = ctest ? place_of(ctest->pid) : std::nullopt;
    if (!place)
      return {};
    std::vector<std::string> options{"--test-dir", place->folder};
    for (std::size_t i = 0; i + 1 < ctest->arguments.size(); ++i)
      if (ctest->arguments[i] == "-C" || ctest->arguments[i] == "--build-config")
        options.insert(options.end(), {"-C", ctest->arguments[i + 1]});
    return options;
  } catch (const std::exception&) {
    return {};
  }
}

} // namespace gputest::os
