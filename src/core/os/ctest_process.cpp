// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/ctest_process.hpp"

#include "core/os/environment.hpp"
#include "core/os/file.hpp"
#include "core/os/process.hpp"

// Boost 1.74 parses JSON with placeholders that it warns of.
#define BOOST_BIND_GLOBAL_PLACEHOLDERS // NOLINT(cppcoreguidelines-macro-usage)
#include <boost/property_tree/json_parser.hpp>
#include <boost/property_tree/ptree.hpp>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <system_error>

namespace gputest::os {

namespace {

namespace fs = std::filesystem;
using Tree = boost::property_tree::ptree;

class TestPresets {
public:
  /// Reads a file and what it includes. The name of an included file that has a macro in it is no file's.
  void read(const fs::path& path) {
    if (!files_.insert(fs::weakly_canonical(path).string()).second) {
      return;
    }
    Tree root;
    boost::property_tree::read_json(path.string(), root);
    for (const auto& preset : root.get_child("testPresets", none_)) {
      presets_.emplace(preset.second.get("name", ""), preset.second);
    }
    for (const auto& include : root.get_child("include", none_)) {
      read(path.parent_path() / include.second.data()); // an absolute path replaces the folder
    }
  }

  /// Adds what a preset says and, where it says nothing, its parents. Each is looked at once: there may be too many
  /// ways through parents that share parents. Throws if one is missing.
  void add_to(TestPreset& found, const std::string& name, std::set<std::string>& seen) const {
    if (!seen.insert(name).second) {
      return;
    }
    const Tree& preset = presets_.at(name);
    if (const auto jobs = preset.get_optional<std::string>("execution.jobs"); jobs && !found.jobs) {
      found.jobs = *jobs;
    }
    const Tree& parents = preset.get_child("inherits", none_); // a name, or a list of names
    if (!parents.data().empty()) {
      add_to(found, parents.data(), seen);
    }
    for (const auto& parent : parents) {
      add_to(found, parent.second.data(), seen);
    }
  }

private:
  const Tree none_;
  std::set<std::string> files_;
  std::map<std::string, Tree> presets_;
};

/// The test preset of the source folder that a build tree was configured for.
std::optional<TestPreset> preset_in(const std::string& build_tree, const std::string& name) {
  std::ifstream cache{build_tree + "/CMakeCache.txt"};
  const std::string key = "CMAKE_HOME_DIRECTORY:INTERNAL=";
  for (std::string line; std::getline(cache, line);) {
    if (line.compare(0, key.size(), key) == 0) {
      return read_test_preset(line.substr(key.size()), name);
    }
  }
  return std::nullopt;
}

/// With a preset ctest runs in the preset's build tree.
std::optional<TestPreset> preset_of(const CtestAncestor& ctest, const std::string& name) {
  if (policy::has_option(ctest.arguments, "--presets-file")) { // relative to where ctest was started
    return std::nullopt;
  }
  const auto place = place_of(ctest.pid);
  const auto preset = place ? preset_in(place->folder, name) : std::nullopt;
  const auto folder = working_directory_of(ctest.pid); // if it has no log yet, but one that it has inherited
  return preset || !folder ? preset : preset_in(*folder, name);
}

} // namespace

std::optional<TestPreset> read_test_preset(const std::string& folder, const std::string& name) {
  try {
    TestPresets presets;
    for (const char* const file : {"CMakeUserPresets.json", "CMakePresets.json"}) {
      if (fs::exists(fs::path{folder} / file)) {
        presets.read(fs::path{folder} / file);
      }
    }
    TestPreset found;
    std::set<std::string> seen;
    presets.add_to(found, name, seen);
    return found;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::optional<policy::CtestSighting> look_for_ctest() {
  const auto ctest = find_ctest();
  if (!ctest) {
    return std::nullopt;
  }
  policy::CtestSighting sighting;
  sighting.arguments = ctest->arguments;
  sighting.parallel_level = read_variable("CTEST_PARALLEL_LEVEL"); // tests inherit what ctest had, or a preset set
  if (const auto name = policy::named_preset(ctest->arguments)) {
    const auto preset = preset_of(*ctest, *name);
    sighting.preset_readable = preset.has_value();
    sighting.preset_jobs = preset ? preset->jobs : std::nullopt;
  }
  return sighting;
}

std::optional<RunningCtest> find_running_ctest() {
  const auto ctest = find_ctest();
  const auto start = ctest ? start_time_of(ctest->pid) : std::nullopt;
  const auto place = ctest ? place_of(ctest->pid) : std::nullopt;
  return start && place ? std::optional{RunningCtest{ctest->pid, *start, place->folder, place->log}} : std::nullopt;
}

std::vector<std::string> options_of_ctest() {
  const auto ctest = find_ctest();
  const auto place = ctest ? place_of(ctest->pid) : std::nullopt;
  if (!place) {
    return {};
  }
  std::vector<std::string> options{"--test-dir", place->folder};
  for (std::size_t i = 0; i + 1 < ctest->arguments.size(); ++i) {
    if (ctest->arguments[i] == "-C" || ctest->arguments[i] == "--build-config") {
      options.insert(options.end(), {"-C", ctest->arguments[i + 1]});
    }
  }
  return options;
}

} // namespace gputest::os
