// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/ctest_preset.hpp"

// Boost 1.74 parses JSON with placeholders that it warns of.
#define BOOST_BIND_GLOBAL_PLACEHOLDERS // NOLINT(cppcoreguidelines-macro-usage)
#include <boost/property_tree/json_parser.hpp>
#include <boost/property_tree/ptree.hpp>

#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

namespace gputest::os {

namespace {

namespace fs = std::filesystem;
using Tree = boost::property_tree::ptree;
using Presets = std::map<std::string, Tree>;

// Why a preset cannot be known. It never leaves this file.
class Unreadable : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

const Tree* member(const Tree& object, const std::string& name) {
  const auto found = object.find(name);
  return found == object.not_found() ? nullptr : &found->second;
}

// A string, or each string of a list.
std::vector<std::string> strings(const Tree* value) {
  std::vector<std::string> list;
  if (value == nullptr)
    return list;
  if (value->empty() && !value->data().empty())
    list.push_back(value->data());
  for (const auto& element : *value)
    list.push_back(element.second.data());
  return list;
}

bool has_macro(const std::string& text) { return text.find('$') != std::string::npos; }

class PresetFiles {
public:
  void read(const fs::path& path) {
    if (!read_.insert(fs::weakly_canonical(path).string()).second)
      return;
    Tree root;
    boost::property_tree::read_json(path.string(), root);
    collect(root, "testPresets", tests_);
    collect(root, "configurePresets", configures_);
    for (const std::string& include : strings(member(root, "include"))) {
      if (has_macro(include))
        throw Unreadable{"the name of an included file has a macro"};
      read(path.parent_path() / include); // an absolute path replaces the folder
    }
  }

  [[nodiscard]] TestPreset test_preset(const std::string& name) const {
    TestPreset preset;
    if (const auto jobs = first_along(tests_, name, &jobs_of))
      preset.jobs = *jobs;
    preset.has_resource_spec = first_along(tests_, name, &resource_spec_of).has_value();
    auto level = first_along(tests_, name, &level_of);
    const std::string configure = value_along(tests_, name, "configurePreset");
    if (!level && !configure.empty() && value_along(tests_, name, "inheritConfigureEnvironment") != "false")
      level = first_along(configures_, configure, &level_of);
    if (level && has_macro(*level))
      throw Unreadable{"CTEST_PARALLEL_LEVEL has a macro"};
    // A null leaves ctest the variable that it was started with.
    if (level && *level != "null")
      preset.parallel_level = *level;
    return preset;
  }

private:
  enum class Look { begun, done };
  using Seen = std::map<std::string, Look>;

  static void collect(const Tree& root, const char* kind, Presets& presets) {
    const Tree* list = member(root, kind);
    if (list == nullptr)
      return;
    for (const auto& element : *list)
      if (const auto name = element.second.get("name", ""); !presets.emplace(name, element.second).second)
        throw Unreadable{"two presets have the name " + name}; // ctest does not start
  }

  static std::optional<std::string> in_execution(const Tree& preset, const char* name) {
    const Tree* execution = member(preset, "execution");
    const Tree* value = execution == nullptr ? nullptr : member(*execution, name);
    return value == nullptr ? std::nullopt : std::make_optional(value->data());
  }

  static std::optional<std::string> jobs_of(const Tree& preset) { return in_execution(preset, "jobs"); }

  static std::optional<std::string> resource_spec_of(const Tree& preset) {
    return in_execution(preset, "resourceSpecFile");
  }

  static std::optional<std::string> level_of(const Tree& preset) {
    const Tree* environment = member(preset, "environment");
    const Tree* level = environment == nullptr ? nullptr : member(*environment, "CTEST_PARALLEL_LEVEL");
    return level == nullptr ? std::nullopt : std::make_optional(level->data());
  }

  // What the preset says itself, else the first of its parents that says something.
  template <typename FindIn>
  static std::optional<std::string> first_along(const Presets& presets, const std::string& name, FindIn find) {
    Seen seen;
    return first_along(presets, name, find, seen);
  }

  // Each preset is looked at once: there are too many ways through parents that share parents.
  template <typename FindIn>
  static std::optional<std::string> first_along(const Presets& presets, const std::string& name, FindIn find,
                                                Seen& seen) {
    const auto preset = presets.find(name);
    const auto [at, is_new] = seen.emplace(name, Look::begun);
    if (preset == presets.end() || (!is_new && at->second == Look::begun))
      throw Unreadable{"preset " + name + " is missing or inherits itself"};
    if (!is_new)
      return std::nullopt; // it has been asked, and says nothing
    if (auto found = find(preset->second))
      return found;
    for (const std::string& parent : strings(member(preset->second, "inherits")))
      if (auto found = first_along(presets, parent, find, seen))
        return found;
    at->second = Look::done;
    return std::nullopt;
  }

  static std::string value_along(const Presets& presets, const std::string& name, const char* key) {
    const auto value_of = [key](const Tree& preset) -> std::optional<std::string> {
      const Tree* value = member(preset, key);
      return value == nullptr ? std::nullopt : std::make_optional(value->data());
    };
    return first_along(presets, name, value_of).value_or("");
  }

  std::set<std::string> read_;
  Presets tests_;
  Presets configures_;
};

} // namespace

std::optional<TestPreset> read_test_preset(const std::string& folder_or_file, const std::string& name) {
  try {
    PresetFiles files;
    const fs::path path{folder_or_file};
    if (fs::is_directory(path)) {
      bool found = false;
      for (const char* file : {"CMakeUserPresets.json", "CMakePresets.json"}) {
        if (!fs::exists(path / file))
          continue;
        files.read(path / file);
        found = true;
      }
      if (!found)
        return std::nullopt;
    } else {
      files.read(path);
    }
    return files.test_preset(name);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

} // namespace gputest::os
