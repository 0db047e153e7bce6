// SPDX-License-Identifier: BSD-3-Clause
#include "core/settings/variable_names.hpp"

#include <gputest/error.hpp>
#include <gputest/settings.hpp>

#include <gmock/gmock.h>

#include <cstdlib>

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

TEST(VariableNames, of_settings_are_those_that_the_parser_reads) {
  EXPECT_GE(names_of_settings().size(), 15U);
  EXPECT_EQ(names_of_settings().count("GPUTEST_MEMORY"), 1U);
  EXPECT_EQ(names_of_settings().count("CUDA_VISIBLE_DEVICES"), 0U);
}

TEST(VariableNames, that_are_mistyped_are_refused_with_the_nearest) {
  EXPECT_EQ(
      message_of({"PATH", "GPUTEST_MEMROY"}),
      "the environment has what is no setting of gputest: GPUTEST_MEMROY (the nearest setting is GPUTEST_MEMORY). "
      "Correct the name, or unset the variable; names that begin with GPUTEST_ are gputest's");
  EXPECT_THAT(message_of({"GPUTEST_REQUIRE_GPUS", "GPUTEST_FORBID_SKIPS"}),
              HasSubstr("GPUTEST_REQUIRE_GPUS (the nearest setting is GPUTEST_REQUIRE_GPU), and GPUTEST_FORBID_SKIPS "
                        "(the nearest setting is GPUTEST_FORBID_SKIP)"));
}

TEST(VariableNames, of_settings_of_the_build_and_of_others_are_accepted) {
  for (const auto& name : names_of_settings()) {
    EXPECT_EQ(message_of({name}), "accepted");
  }
  EXPECT_EQ(message_of({"GPUTEST_BUILD_CLI", "GPUTEST_ROOT", "GPUTEST_LIST_FILE", "gputest_DIR", "MY_GPUTEST_DIR",
                        "GPUTESTS"}),
            "accepted");
}

TEST(VariableNames, are_those_of_the_environment) {
  setenv("GPUTEST_MEMROY", "", 1);
  EXPECT_THROW(static_cast<void>(settings_from_environment()), InvalidSetting) << "empty, and no less mistyped";
  unsetenv("GPUTEST_MEMROY");
  EXPECT_NO_THROW(static_cast<void>(settings_from_environment()));
}

} // namespace
} // namespace gputest::settings
