// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/ctest_preset.hpp"

// Boost 1.74 parses JSON with placeholders that it warns of.
#define BOOST_BIND_GLOBAL_PLACEHOLDERS // NOLINT(cppcoreguidelines-macro-usage)
#include <boost/property_tree/json_parser.hpp>
#include <boost/property_tree/ptree.hpp>

#include <exception>
#include <filesystem>
#include <map>
#include <set>

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
    found.has_resource_spec = found.has_resource_spec || preset.get_child_optional("execution.resourceSpecFile");
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

} // namespace gputest::os
