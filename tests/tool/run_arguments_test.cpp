// SPDX-License-Identifier: BSD-3-Clause
#include "tool/run_arguments.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <map>

namespace gputest::tool {

namespace {

using namespace gputest::literals; // NOLINT(google-build-using-namespace)

settings::ReadVariable environment(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional{found->second};
  };
}

} // namespace

TEST(RunArguments, take_from_the_environment_what_the_command_line_leaves_out) {
  const auto run = run_of({}, environment({{"GPUTEST_MEMORY", "3GiB"},
                                           {"GPUTEST_GPUS", "2"},
                                           {"GPUTEST_LARGE", "wait"},
                                           {"GPUTEST_TEST", "suite"},
                                           {"GPUTEST_WAIT_LIMIT", "90s"},
                                           {"GPUTEST_REQUIRE_GPU", "1"}}));
  EXPECT_EQ(run.entry.request.bytes, 3_GiB);
  EXPECT_EQ(run.entry.request.gpus, 2);
  EXPECT_EQ(run.entry.large, LargePolicy::wait);
  EXPECT_EQ(run.entry.name, "suite");
  EXPECT_EQ(run.entry.wait_limit, std::chrono::seconds{90});
  EXPECT_TRUE(run.settings.require_gpu);
}

TEST(RunArguments, keep_what_the_entry_requires_of_devices_when_they_say_the_memory) {
  RunArguments arguments;
  arguments.memory = Request{5_GiB};
  EXPECT_EQ(run_of(arguments, environment({{"GPUTEST_REQUIRES", "sm_80"}})).entry.request.capabilities,
            Capabilities{capabilities::sm(80)});
}

TEST(RunArguments, win_over_the_environment_even_where_that_is_unusable) {
  RunArguments arguments;
  arguments.memory = Request{5_GiB};
  arguments.gpus = 3;
  arguments.required = Capabilities{capabilities::mig};
  arguments.large = LargePolicy::serial;
  arguments.name = "mine";
  arguments.wait_limit = std::chrono::seconds{7};
  arguments.require_gpu = true;
  const auto run = run_of(arguments, environment({{"GPUTEST_MEMORY", "bad"},
                                                  {"GPUTEST_GPUS", "bad"},
                                                  {"GPUTEST_REQUIRES", "bad"},
                                                  {"GPUTEST_LARGE", "bad"},
                                                  {"GPUTEST_TEST", "theirs"},
                                                  {"GPUTEST_WAIT_LIMIT", "bad"},
                                                  {"GPUTEST_REQUIRE_GPU", "bad"}}));
  EXPECT_EQ(run.entry.request.bytes, 5_GiB);
  EXPECT_EQ(run.entry.request.gpus, 3);
  EXPECT_EQ(run.entry.request.capabilities, Capabilities{capabilities::mig});
  EXPECT_EQ(run.entry.large, LargePolicy::serial);
  EXPECT_EQ(run.entry.name, "mine");
  EXPECT_EQ(run.entry.wait_limit, std::chrono::seconds{7});
  EXPECT_TRUE(run.settings.require_gpu);
}

TEST(RunArguments, override_memory_and_number_of_gpus_apart_from_each_other) {
  RunArguments memory_only;
  memory_only.memory = Request{5_GiB};
  EXPECT_EQ(run_of(memory_only, environment({{"GPUTEST_GPUS", "2"}})).entry.request.gpus, 2);

  RunArguments gpus_only;
  gpus_only.gpus = 4;
  const auto run = run_of(gpus_only, environment({{"GPUTEST_MEMORY", "medium"}, {"GPUTEST_GPUS", "2"}}));
  EXPECT_EQ(run.entry.request.memory_class, MemoryClass::medium);
  EXPECT_EQ(run.entry.request.gpus, 4);
}

TEST(RunArguments, leave_the_heap_to_the_environment) {
  RunArguments memory_only;
  memory_only.memory = Request{5_GiB};
  EXPECT_EQ(run_of(memory_only, environment({{"GPUTEST_HEAP", "64MiB"}})).entry.request.heap, 64_MiB);
}

TEST(RunArguments, still_refuse_an_unusable_variable_that_no_option_overrides) {
  RunArguments arguments;
  arguments.memory = Request{5_GiB};
  EXPECT_THROW((void)run_of(arguments, environment({{"GPUTEST_GPUS", "bad"}})), InvalidSetting);
}

TEST(RunArguments, name_the_run_after_its_test_or_else_after_its_command) {
  Entry entry;
  EXPECT_EQ(name_of(entry, {"/opt/bin/solver", "--fast"}), "solver");
  EXPECT_EQ(name_of(entry, {"solver"}), "solver");
  entry.name = "suite";
  EXPECT_EQ(name_of(entry, {"/opt/bin/solver"}), "suite");
}

} // namespace gputest::tool
