// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/ctest_process.hpp"

#include "core/os/environment.hpp"
#include "core/os/file.hpp"
#include "core/os/process.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace gputest::os {

namespace {

namespace fs = std::filesystem;

/// Reads a JSON text value by value. ctest has read the presets before: this has to understand what is right, and to
/// end on any other text.
class JsonReader {
public:
  using Keys = std::vector<std::string>; ///< the keys, and the numbers in lists, that lead to a value

  /// `each` is called with the keys of each text, number and word, and with that as written.
  JsonReader(std::string_view text, std::function<void(const Keys&, const std::string&)> each)
      : rest_{text}, each_{std::move(each)} {}

  /// Throws std::invalid_argument at the first place that is not JSON.
  void read() {
    read_value();
    require(next() == '\0');
  }

private:
  static constexpr std::size_t deepest = 200;

  void read_value() {
    require(keys_.size() < deepest);
    if (take('{')) {
      for (bool first = true; !take('}'); first = false) {
        require(first || take(','));
        keys_.push_back(read_text());
        require(take(':'));
        read_value();
        keys_.pop_back();
      }
    } else if (take('[')) {
      for (int index = 0; !take(']'); ++index) {
        require(index == 0 || take(','));
        keys_.push_back(std::to_string(index));
        read_value();
        keys_.pop_back();
      }
    } else {
      each_(keys_, next() == '"' ? read_text() : read_word());
    }
  }

  /// Control characters and \u stay as they are written: no preset or file is found by such a name.
  std::string read_text() {
    require(take('"'));
    std::string text;
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      const bool escaped = rest_[i] == '\\' && i + 1 < rest_.size();
      if (rest_[i] == '"') {
        rest_.remove_prefix(i + 1);
        return text;
      }
      if (escaped && std::string_view{"\"\\/"}.find(rest_[i + 1]) == std::string_view::npos) {
        text += rest_[i];
      }
      i += escaped ? 1 : 0;
      text += rest_[i];
    }
    throw std::invalid_argument{"no JSON"};
  }

  std::string read_word() {
    const auto word = rest_.substr(0, rest_.find_first_of("{}[]:,\" \t\r\n"));
    require(!word.empty());
    rest_.remove_prefix(word.size());
    return std::string{word};
  }

  /// The next character that is no space; 0 at the end.
  char next() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
    return rest_.empty() ? '\0' : rest_.front();
  }

  bool take(char expected) {
    const bool found = next() == expected;
    rest_.remove_prefix(found ? 1 : 0);
    return found;
  }

  static void require(bool holds) {
    if (!holds) {
      throw std::invalid_argument{"no JSON"};
    }
  }

  std::string_view rest_;
  std::function<void(const Keys&, const std::string&)> each_;
  Keys keys_;
};

class TestPresets {
public:
  /// Reads a file and what it includes. The name of an included file that has a macro in it is no file's.
  void read(const fs::path& path) {
    if (!files_.insert(fs::weakly_canonical(path).string()).second) {
      return;
    }
    struct Named : Preset {
      std::string name;
    };
    std::map<std::string, Named> presets; // by their number in the file
    std::vector<std::string> includes;
    const auto add = [&](const JsonReader::Keys& keys, const std::string& value) {
      if (keys.size() == 2 && keys[0] == "include") {
        includes.push_back(value);
      } else if (keys.size() >= 3 && keys[0] == "testPresets") {
        Named& preset = presets[keys[1]];
        if (keys[2] == "name") {
          preset.name = value;
        } else if (keys[2] == "inherits") { // a name, or a list of names
          preset.parents.push_back(value);
        } else if (keys.size() == 4 && keys[2] == "execution" && keys[3] == "jobs") {
          preset.jobs = value;
        }
      }
    };
    const auto text = contents_of(path.string());
    JsonReader{text.value_or(""), add}.read();
    for (const auto& [number, preset] : presets) {
      presets_.emplace(preset.name, preset);
    }
    for (const auto& include : includes) {
      read(path.parent_path() / include); // an absolute path replaces the folder
    }
  }

  /// Adds what a preset says and, where it says nothing, its parents. Each is looked at once: there may be too many
  /// ways through parents that share parents. Throws if one is missing.
  void add_to(TestPreset& found, const std::string& name, std::set<std::string>& seen) const {
    if (!seen.insert(name).second) {
      return;
    }
    const Preset& preset = presets_.at(name);
    if (preset.jobs && !found.jobs) {
      found.jobs = preset.jobs;
    }
    for (const auto& parent : preset.parents) {
      add_to(found, parent, seen);
    }
  }

private:
  struct Preset {
    std::optional<std::string> jobs;
    std::vector<std::string> parents;
  };

  std::set<std::string> files_;
  std::map<std::string, Preset> presets_;
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
  const auto place = ctest_place(ctest.pid);
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
  const auto place = ctest ? ctest_place(ctest->pid) : std::nullopt;
  return start && place ? std::optional{RunningCtest{ctest->pid, *start, place->folder, place->log}} : std::nullopt;
}

std::vector<std::string> options_of_ctest() {
  const auto ctest = find_ctest();
  const auto place = ctest ? ctest_place(ctest->pid) : std::nullopt;
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
