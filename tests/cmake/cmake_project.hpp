// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/child_process.hpp"
#include "support/private_folder.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace gputest::tests {

/// The path of cmake or ctest: this build's, or the one in DISCOVERY_CMAKE_FOLDER if that is set.
inline std::string program(const std::string& name) {
  if (const char* const folder = std::getenv("DISCOVERY_CMAKE_FOLDER"); folder != nullptr) {
    return std::string{folder} + "/" + name;
  }
  return name == "cmake" ? DISCOVERY_CMAKE : DISCOVERY_CTEST;
}

/// An entry as ctest knows it.
struct Entry {
  std::vector<std::string> command;
  std::map<std::string, nlohmann::json> properties;
};

/// A test that configures a project of its own and runs its ctest.
class CMakeProject : public ::testing::Test {
protected:
  explicit CMakeProject(const std::string& devices) {
    set("GPUTEST_DEVICES", devices);
    set("GPUTEST_DIR", path("ledger"));
    set("CLICOLOR", "0");
  }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  void set(const std::string& name, const std::string& value) { environment_[name] = value; }
  void write(const std::string& name, const std::string& text) const { folder_.write(name, text, 0755); }
  [[nodiscard]] const ChildProcess::Environment& environment() const { return environment_; }

  [[nodiscard]] Ended run(const std::vector<std::string>& command) const {
    return ChildProcess{command, environment_}.finish();
  }

  /// Configures a project of this text, with executables of these names and files.
  void configure_project(const std::map<std::string, std::string>& executables, const std::string& text,
                         const std::vector<std::string>& options) const {
    std::string lists = "cmake_minimum_required(VERSION 3.25)\nproject(tests LANGUAGES NONE)\nenable_testing()\n"
                        "include(\"" DISCOVERY_MODULES "/gputest.cmake\")\n";
    for (const auto& [name, file] : executables) {
      lists += "add_executable(" + name + " IMPORTED GLOBAL)\nset_target_properties(" + name +
               " PROPERTIES IMPORTED_LOCATION \"" + file + "\")\n";
    }
    write("CMakeLists.txt", lists + text);
    std::vector<std::string> command{program("cmake"), "-S", folder_.path(), "-B", path("build")};
    command.insert(command.end(), options.begin(), options.end());
    const auto ended = run(command);
    ASSERT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  }

  /// Runs ctest in a folder.
  [[nodiscard]] Ended ctest_in(const std::string& folder, const std::vector<std::string>& arguments) const {
    std::vector<std::string> command{"/usr/bin/env", "-C", folder, program("ctest")};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run(command);
  }

  /// What ctest knows of the entries in a folder. A name that there is twice is a failure.
  [[nodiscard]] std::map<std::string, Entry> entries_in(const std::string& folder,
                                                        std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "--show-only=json-v1");
    const auto ended = ctest_in(folder, arguments);
    EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
    EXPECT_EQ(ended.err, "");
    std::map<std::string, Entry> all;
    const auto document = nlohmann::json::parse(ended.out);
    for (const auto& test : document.at("tests")) {
      Entry entry;
      if (test.contains("command")) {
        entry.command = test.at("command").get<std::vector<std::string>>();
      }
      for (const auto& property : test.at("properties")) {
        entry.properties[property.at("name").get<std::string>()] = property.at("value");
      }
      EXPECT_TRUE(all.emplace(test.at("name").get<std::string>(), entry).second) << test.at("name");
    }
    return all;
  }

private:
  PrivateFolder folder_;
  ChildProcess::Environment environment_ = bare_environment();
};

} // namespace gputest::tests
