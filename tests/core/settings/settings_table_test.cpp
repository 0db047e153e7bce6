// SPDX-License-Identifier: BSD-3-Clause
#include "core/settings/settings_table.hpp"

#include "core/settings/settings.hpp"

#include <gputest/error.hpp>
#include <gputest/settings.hpp>

#include <gmock/gmock.h>

#include <cstdlib>
#include <set>

namespace gputest::settings {
namespace {

using testing::HasSubstr;

std::string message_of(const std::vector<std::string>& names) {
  try {
    refuse_unknown(names);
    return "accepted";
  } catch (const InvalidSetting& error) {
    return error.what();
  }
}

TEST(SettingsTable, has_what_is_read_and_nothing_else) {
  std::set<std::string> read;
  const auto note = [&](const std::string& name) {
    if (name.find("GPUTEST_") == 0) { // not those of CUDA, CTest, Slurm and MPI
      read.insert(name);
    }
    return std::optional<std::string>{};
  };
  static_cast<void>(parse_settings(note));
  static_cast<void>(parse_entry(note));
  static_cast<void>(parse_entry_watcher(note));
  static_cast<void>(parse_worker(note));
  read.insert("GPUTEST_LIST_FILE"); // test_list_file(), which reads the environment of the process
  std::set<std::string> known;
  for (const auto& setting : settings_table()) {
    EXPECT_TRUE(known.insert(setting.name).second) << setting.name;
    EXPECT_NE(settings_reference().find(setting.name), std::string::npos) << setting.name;
    const auto words = words_of(setting);
    EXPECT_TRUE(words.empty() || words.front() == setting.fallback) << setting.name;
  }
  EXPECT_EQ(read, known);
}

TEST(SettingsTable, refuses_mistyped_names_with_the_nearest_setting) {
  EXPECT_EQ(
      message_of({"PATH", "GPUTEST_MEMROY"}),
      "unknown gputest setting GPUTEST_MEMROY (the nearest setting is GPUTEST_MEMORY). "
      "Correct the name, or unset the variable; names that begin with GPUTEST_ are gputest's");
  EXPECT_THAT(message_of({"GPUTEST_REQUIRE_GPUS", "GPUTEST_FORBID_SKIPS"}),
              HasSubstr("GPUTEST_REQUIRE_GPUS (the nearest setting is GPUTEST_REQUIRE_GPU), and GPUTEST_FORBID_SKIPS "
                        "(the nearest setting is GPUTEST_FORBID_SKIP)"));
}

TEST(SettingsTable, accepts_names_of_settings_of_the_build_and_of_others) {
  for (const auto& setting : settings_table()) {
    EXPECT_EQ(message_of({setting.name}), "accepted");
  }
  EXPECT_EQ(message_of({"GPUTEST_BUILD_CLI", "GPUTEST_ROOT", "GPUTEST_LIST_FILE", "gputest_DIR", "MY_GPUTEST_DIR",
                        "GPUTESTS"}),
            "accepted");
}

TEST(SettingsTable, is_held_against_the_environment) {
  setenv("GPUTEST_MEMROY", "", 1);
  EXPECT_THROW(static_cast<void>(settings_from_environment()), InvalidSetting) << "empty, and no less mistyped";
  unsetenv("GPUTEST_MEMROY");
  EXPECT_NO_THROW(static_cast<void>(settings_from_environment()));
}

} // namespace
} // namespace gputest::settings
