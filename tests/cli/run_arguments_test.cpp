#include "cli/run_arguments.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <map>

namespace gputest::cli {

namespace {

using namespace gputest::literals; // NOLINT(google-build-using-namespace)

policy::ReadVariable environment(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional{found->second};
  };
}

} // namespace

TEST(RunArguments, take_from_the_environment_what_the_command_line_leaves_out) {
  const auto settings = settings_of({}, environment({{"GPUTEST_MEMORY", "3GiB"},
                                                     {"GPUTEST_GPUS", "2"},
                                                     {"GPUTEST_LARGE", "wait"},
                                                     {"GPUTEST_TEST", "suite"},
                                                     {"GPUTEST_WAIT_LIMIT", "90s"},
                                                     {"GPUTEST_REQUIRE_GPU", "1"}}));
  EXPECT_EQ(settings.requirement.bytes, 3_GiB);
  EXPECT_EQ(settings.requirement.gpus, 2);
  EXPECT_EQ(settings.large, LargePolicy::wait);
  EXPECT_EQ(settings.test, "suite");
  EXPECT_EQ(settings.wait_limit, std::chrono::seconds{90});
  EXPECT_TRUE(settings.require_gpu);
}

TEST(RunArguments, keep_what_the_entry_requires_of_devices_when_they_say_the_memory) {
  RunArguments arguments;
  arguments.memory = Requirement{5_GiB};
  EXPECT_EQ(settings_of(arguments, environment({{"GPUTEST_REQUIRES", "sm_80"}})).requirement.capabilities,
            Capabilities{capabilities::sm(80)});
}

TEST(RunArguments, win_over_the_environment_even_where_that_is_unusable) {
  RunArguments arguments;
  arguments.memory = Requirement{5_GiB};
  arguments.gpus = 3;
  arguments.required = Capabilities{capabilities::mig};
  arguments.large = LargePolicy::serial;
  arguments.name = "mine";
  arguments.wait_limit = std::chrono::seconds{7};
  arguments.require_gpu = true;
  const auto settings = settings_of(arguments, environment({{"GPUTEST_MEMORY", "bad"},
                                                            {"GPUTEST_GPUS", "bad"},
                                                            {"GPUTEST_REQUIRES", "bad"},
                                                            {"GPUTEST_LARGE", "bad"},
                                                            {"GPUTEST_TEST", "theirs"},
                                                            {"GPUTEST_WAIT_LIMIT", "bad"},
                                                            {"GPUTEST_REQUIRE_GPU", "bad"}}));
  EXPECT_EQ(settings.requirement.bytes, 5_GiB);
  EXPECT_EQ(settings.requirement.gpus, 3);
  EXPECT_EQ(settings.requirement.capabilities, Capabilities{capabilities::mig});
  EXPECT_EQ(settings.large, LargePolicy::serial);
  EXPECT_EQ(settings.test, "mine");
  EXPECT_EQ(settings.wait_limit, std::chrono::seconds{7});
  EXPECT_TRUE(settings.require_gpu);
}

TEST(RunArguments, override_memory_and_number_of_gpus_apart_from_each_other) {
  RunArguments memory_only;
  memory_only.memory = Requirement{5_GiB};
  EXPECT_EQ(settings_of(memory_only, environment({{"GPUTEST_GPUS", "2"}})).requirement.gpus, 2);

  RunArguments gpus_only;
  gpus_only.gpus = 4;
  const auto settings = settings_of(gpus_only, environment({{"GPUTEST_MEMORY", "medium"}, {"GPUTEST_GPUS", "2"}}));
  EXPECT_EQ(settings.requirement.memory_class, MemoryClass::medium);
  EXPECT_EQ(settings.requirement.gpus, 4);
}

TEST(RunArguments, leave_the_heap_to_the_environment) {
  RunArguments memory_only;
  memory_only.memory = Requirement{5_GiB};
  EXPECT_EQ(settings_of(memory_only, environment({{"GPUTEST_HEAP", "64MiB"}})).requirement.heap, 64_MiB);
}

TEST(RunArguments, still_refuse_an_unusable_variable_that_no_option_overrides) {
  RunArguments arguments;
  arguments.memory = Requirement{5_GiB};
  EXPECT_THROW((void)settings_of(arguments, environment({{"GPUTEST_GPUS", "bad"}})), InvalidSetting);
}

TEST(RunArguments, name_the_run_after_its_test_or_else_after_its_command) {
  policy::Settings settings;
  EXPECT_EQ(name_of(settings, {"/opt/bin/solver", "--fast"}), "solver");
  EXPECT_EQ(name_of(settings, {"solver"}), "solver");
  settings.test = "suite";
  EXPECT_EQ(name_of(settings, {"/opt/bin/solver"}), "suite");
}

} // namespace gputest::cli
