// SPDX-License-Identifier: BSD-3-Clause
#include "core/settings/settings.hpp"

#include <gputest/error.hpp>
#include <gputest/settings.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace gputest::settings {

namespace {

using namespace literals;
using namespace std::chrono_literals;
using Variables = std::map<std::string, std::string>;

/// What the environment says of the process and of its CTest entry.
struct All : Settings {
  Entry entry;
};

All parse(const Variables& variables) {
  const auto read = [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional{found->second};
  };
  return {parse_settings(read), parse_entry(read)};
}

/// What parse_settings() says of a value that cannot be used.
std::string message_of(const std::string& name, const std::string& value) {
  try {
    parse({{name, value}});
    return "accepted";
  } catch (const InvalidSetting& error) {
    return error.what();
  }
}

TEST(Settings, have_defaults_where_they_are_not_set_or_empty) {
  Variables empty;
  for (const auto& setting : settings_table()) {
    empty[setting.name] = "";
  }
  for (const auto& variables : {Variables{}, empty}) {
    const All settings = parse(variables);
    EXPECT_EQ(settings.devices, "all");
    EXPECT_TRUE(settings.entry.request.is_estimated());
    EXPECT_EQ(to_string(settings.entry.request), "small");
    EXPECT_EQ(settings.entry.large, LargePolicy::exclude);
    EXPECT_EQ(settings.entry.name, "");
    EXPECT_FALSE(settings.require_gpu);
    EXPECT_EQ(settings.forbid_skip, ForbidSkip::no);
    EXPECT_EQ(settings.entry.wait_limit, 20min);
    EXPECT_EQ(settings.run_mode, RunModeSetting::automatic);
    EXPECT_EQ(settings.entry.request.heap, 0_B);
    EXPECT_EQ(settings.memory_resource, std::nullopt);
    EXPECT_EQ(settings.folder, "");
    EXPECT_EQ(settings.lease_of, "above");
    EXPECT_EQ(settings.device_memory, std::nullopt);
    EXPECT_EQ(settings.processes_per_device, 0);
  }
}

TEST(Settings, take_the_users_folder_of_logs_before_that_of_the_entry) {
  EXPECT_EQ(parse({}).log, "");
  EXPECT_EQ(parse({{"GPUTEST_DEFAULT_PROCESSES_PER_DEVICE", "3"}}).processes_per_device, 3);
  EXPECT_EQ(parse({{"GPUTEST_DEFAULT_PROCESSES_PER_DEVICE", "3"}, {"GPUTEST_PROCESSES_PER_DEVICE", "0"}})
                .processes_per_device,
            0);
  EXPECT_EQ(parse({{"GPUTEST_DEFAULT_LOG", "Testing/gputest"}}).log, "Testing/gputest");
  EXPECT_EQ(parse({{"GPUTEST_DEFAULT_LOG", "Testing/gputest"}, {"GPUTEST_LOG", "/logs"}}).log, "/logs");
  EXPECT_EQ(parse({{"GPUTEST_DEFAULT_LOG", "Testing/gputest"}, {"GPUTEST_LOG", "off"}}).log, "");
  EXPECT_EQ(message_of("GPUTEST_LOG", "logs"),
            "GPUTEST_LOG='logs' is neither off nor an absolute path, and must be one: tests run in different folders. "
            "Write the whole path of a folder");
}

TEST(Settings, say_how_long_a_test_may_run) {
  const auto limit = [](const std::string& value) {
    return parse_time_limit(
        [&](const char* name) { return std::string{name} == "GPUTEST_TIMEOUT" ? std::optional{value} : std::nullopt; });
  };
  EXPECT_FALSE(limit(""));
  EXPECT_EQ(limit("90").value().duration, 90s);
  EXPECT_EQ(limit("90").value().text, "90 s");
  EXPECT_EQ(limit("2.5").value().duration, 2500ms);
  EXPECT_EQ(limit("2.5").value().text, "2.5 s");
  EXPECT_EQ(limit("0.0001").value().duration, 1ms);
  EXPECT_EQ(limit("1.23456").value().duration, 1234ms);
  EXPECT_EQ(limit("999999999").value().duration, 999999999s);
  EXPECT_EQ(limit("90").value().signal(), 0);
  const auto with_signal = limit("90 SIGINT").value();
  EXPECT_EQ(with_signal.signal(), SIGINT);
  EXPECT_EQ(with_signal.duration, 90s);
  EXPECT_EQ(with_signal.text, "90 s");
  EXPECT_EQ(with_signal.grace, 1s) << "as with CTest";
  EXPECT_EQ(limit("2.5 SIGUSR2 0.25").value().grace, 250ms);
  for (const auto* const as_ctest_reads : {" .5 ", "0.5 SIGINT .25", "0.5  SIGINT  2. "}) {
    EXPECT_EQ(limit(as_ctest_reads).value().duration, 500ms) << as_ctest_reads;
  }
  EXPECT_EQ(limit("1 SIGINT .25").value().grace, 250ms);
  for (const std::string bad : {"0", "0.0", "-5", "soon", "1e3", "5s", ".", " ", "1000000000", "1.5.2", "5 SIGKILL",
                                "5 2", "5 SIGINT 0", "5 SIGINT 1 2", "SIGINT"}) {
    EXPECT_EQ(
        message_of("GPUTEST_TIMEOUT", bad),
        "GPUTEST_TIMEOUT='" + bad +
            "' is no time limit; it is a positive number of seconds such as 90 or 2.5, up to 999999999, and after "
            "it, if wanted, a signal that is sent first and the seconds until the kill: 90 SIGINT 2.5");
  }
}

TEST(Settings, hold_what_cuda_ctest_slurm_and_mpi_say) {
  const All settings = parse({{"CUDA_VISIBLE_DEVICES", ""},
                              {"SLURM_JOB_ID", "7"},
                              {"SLURM_STEP_GPUS", "1"},
                              {"CTEST_RESOURCE_GROUP_COUNT", "3"},
                              {"CTEST_RESOURCE_GROUP_0_GPUS", "id:0,slots:1"},
                              {"CTEST_RESOURCE_GROUP_1_CUDAGPU", "id:1,slots:1"}, // as Ginkgo names them
                              {"CTEST_RESOURCE_GROUP_2_CPU", "id:0,slots:7"},
                              {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                              {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}});
  ASSERT_TRUE(settings.visible_devices);
  EXPECT_EQ(settings.visible_devices->variable, "CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(settings.visible_devices->value, "") << "empty allows none, and is not the same as not set";
  ASSERT_TRUE(settings.job_devices);
  EXPECT_EQ(settings.job_devices->variable, "SLURM_STEP_GPUS");
  EXPECT_EQ(settings.job_devices->value, "1");
  EXPECT_EQ(settings.resource_group_count, "3");
  EXPECT_EQ(settings.resource_groups, (std::vector<std::string>{"id:0,slots:1", "id:1,slots:1"}));
  ASSERT_TRUE(settings.rank);
  EXPECT_EQ(settings.rank->local_rank, 1);
  EXPECT_EQ(settings.rank->local_size, 4);
}

TEST(Settings, are_read_from_their_variables) {
  const All settings = parse({{"GPUTEST_DEVICES", "none"},
                              {"GPUTEST_MEMORY", "3GiB"},
                              {"GPUTEST_GPUS", "2"},
                              {"GPUTEST_REQUIRES", "memory_pools sm_80"},
                              {"GPUTEST_DEVICE_MEMORY", "8GiB"},
                              {"GPUTEST_PROCESSES_PER_DEVICE", "4"},
                              {"GPUTEST_HEAP", "64MiB"},
                              {"GPUTEST_LARGE", "wait"},
                              {"GPUTEST_TEST", "solver"},
                              {"GPUTEST_REQUIRE_GPU", "1"},
                              {"GPUTEST_FORBID_SKIP", "0"},
                              {"GPUTEST_WAIT_LIMIT", "90s"},
                              {"GPUTEST_RUN_MODE", "serial"},
                              {"GPUTEST_MEMORY_RESOURCE", "malloc"},
                              {"GPUTEST_DIR", "/var/gputest"},
                              {"GPUTEST_KEEPS", "32MiB"},
                              {"GPUTEST_METER", "sampled"},
                              {"GPUTEST_OVERUSE", "warn"},
                              {"GPUTEST_LEAKS", "off"},
                              {"GPUTEST_LEASE_OF", "3:1234"}});
  EXPECT_EQ(settings.devices, "none");
  EXPECT_EQ(settings.entry.request.bytes, 3_GiB);
  EXPECT_EQ(settings.entry.request.gpus, 2);
  EXPECT_EQ(settings.entry.request.capabilities, (Capabilities{capabilities::memory_pools, capabilities::sm(80)}));
  EXPECT_EQ(settings.device_memory, 8_GiB);
  EXPECT_EQ(settings.processes_per_device, 4);
  EXPECT_EQ(settings.entry.large, LargePolicy::wait);
  EXPECT_EQ(settings.entry.name, "solver");
  EXPECT_TRUE(settings.require_gpu);
  EXPECT_EQ(settings.forbid_skip, ForbidSkip::no);
  EXPECT_EQ(settings.entry.wait_limit, 90s);
  EXPECT_EQ(settings.run_mode, RunModeSetting::serial);
  EXPECT_EQ(settings.entry.request.heap, 64_MiB);
  EXPECT_EQ(settings.entry.request.keeps, 32_MiB);
  EXPECT_EQ(settings.meter, MeterSetting::sampled);
  EXPECT_EQ(settings.overuse, Consequence::warn);
  EXPECT_EQ(settings.leaks, Consequence::off);
  EXPECT_EQ(settings.memory_resource, MemoryKind::malloc);
  EXPECT_EQ(settings.folder, "/var/gputest");
  EXPECT_EQ(settings.lease_of, "3:1234");
}

TEST(Settings, that_forbid_a_skip_require_a_gpu) {
  EXPECT_EQ(parse({{"GPUTEST_FORBID_SKIP", "1"}}).forbid_skip, ForbidSkip::all);
  EXPECT_TRUE(parse({{"GPUTEST_FORBID_SKIP", "1"}}).require_gpu);
  EXPECT_EQ(parse({{"GPUTEST_FORBID_SKIP", "machine"}}).forbid_skip, ForbidSkip::machine);
  EXPECT_TRUE(parse({{"GPUTEST_FORBID_SKIP", "machine"}}).require_gpu);
}

TEST(Settings, that_are_words_take_each_word_of_the_table_and_no_other) {
  for (const auto& setting : settings_table()) {
    const auto words = words_of(setting);
    for (const auto& word : words) {
      EXPECT_EQ(message_of(setting.name, word), "accepted");
    }
    if (!words.empty()) {
      EXPECT_EQ(message_of(setting.name, "Auto")
                    .find(std::string{setting.name} + "='Auto' is unknown; it is one of " + words.front() + ", " +
                          words.at(1)),
                0U);
    }
  }
  const auto read = [](const char* value) {
    return [value](const char*) { return std::optional<std::string>{value}; };
  };
  EXPECT_EQ(parse_uses_gpu(read("no")), UsesGpu::no);
}

TEST(Settings, that_cannot_be_used_are_refused_with_what_is_allowed) {
  const std::string devices_advice =
      "; it is all, none, or simulated:<n>x<size>[,<option>...], such as simulated:2x16GiB";
  const std::string size_advice =
      "; write a number and a unit, such as 256MiB, 3GiB or 1.5GiB (units: B, KiB, MiB, GiB, TiB)";
  struct Case {
    std::string name;
    std::string value;
    std::string message;
  };
  const std::vector<Case> cases{
      {"GPUTEST_DEVICES", "gpu", "GPUTEST_DEVICES='gpu' is unknown" + devices_advice},
      {"GPUTEST_DEVICES", "simulated:16GiB",
       "GPUTEST_DEVICES='simulated:16GiB' cannot be used: '16GiB' is not <n>x<size>, the number and the size of the "
       "devices" +
           devices_advice},
      {"GPUTEST_DEVICES", "simulated:17x16GiB",
       "GPUTEST_DEVICES='simulated:17x16GiB' cannot be used: the number of devices '17' is not a whole number from 1 "
       "to 16" +
           devices_advice},
      {"GPUTEST_DEVICES", "simulated:2x16",
       "GPUTEST_DEVICES='simulated:2x16' cannot be used: the size of a device '16' has no unit" + size_advice +
           devices_advice},
      {"GPUTEST_DEVICES", "simulated:1x512MiB",
       "GPUTEST_DEVICES='simulated:1x512MiB' cannot be used: it leaves no memory: one process's context takes 512 MiB" +
           devices_advice},
      {"GPUTEST_REQUIRES", "pools",
       "GPUTEST_REQUIRES='pools' cannot be used: 'pools' is unknown; it is any of memory_pools, managed_memory, "
       "concurrent_managed_access, "
       "peer_access, cooperative_launch, tcc, wddm, mig, sm_<n> such as sm_80, total_memory=<size>, "
       "free_memory=<size>"},
      {"GPUTEST_DEVICE_MEMORY", "8", "GPUTEST_DEVICE_MEMORY '8' has no unit" + size_advice},
      {"GPUTEST_PROCESSES_PER_DEVICE", "1025",
       "GPUTEST_PROCESSES_PER_DEVICE '1025' is not a whole number from 0 to 1024"},
      {"GPUTEST_MEMORY", "huge",
       "GPUTEST_MEMORY 'huge' is unknown; it is one of small, medium, large, or a size such as 3GiB. It may also be "
       "auto or none"},
      {"GPUTEST_GPUS", "17", "GPUTEST_GPUS '17' is not a whole number from 0 to 16"},
      {"GPUTEST_LARGE", "skip", "GPUTEST_LARGE 'skip' is unknown; it is one of exclude, serial, wait"},
      {"GPUTEST_DIR", "ledger",
       "GPUTEST_DIR='ledger' is not an absolute path, and must be one: tests that run in different folders share a "
       "ledger"},
      {"GPUTEST_WAIT_LIMIT", "20", "GPUTEST_WAIT_LIMIT='20' is not a duration; write 90s, 20min or 1h"},
      {"GPUTEST_WAIT_LIMIT", "20m", "GPUTEST_WAIT_LIMIT='20m' is not a duration; write 90s, 20min or 1h"},
      {"GPUTEST_WAIT_LIMIT", "25h", "GPUTEST_WAIT_LIMIT='25h' is more than 24h, the longest that is accepted"},
      {"GPUTEST_WAIT_LIMIT", "99999999999min",
       "GPUTEST_WAIT_LIMIT='99999999999min' is more than 24h, the longest that is accepted"},
      {"GPUTEST_WAIT_LIMIT", "h", "GPUTEST_WAIT_LIMIT='h' is not a duration; write 90s, 20min or 1h"},
      {"GPUTEST_KEEPS", "8", "GPUTEST_KEEPS '8' has no unit" + size_advice},
      {"GPUTEST_RUN_MODE", "fast", "GPUTEST_RUN_MODE='fast' is unknown; it is one of auto, serial, parallel"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(message_of(c.name, c.value), c.message);
  }
}

TEST(Duration, is_read_with_its_unit) {
  EXPECT_EQ(parse_duration("0s", "x"), 0s);
  EXPECT_EQ(parse_duration("90s", "x"), 90s);
  EXPECT_EQ(parse_duration("20min", "x"), 20min);
  EXPECT_EQ(parse_duration("24h", "x"), 24h);
  EXPECT_EQ(parse_duration("86400s", "x"), 24h);
}

using testing::HasSubstr;

std::string message_of(const std::vector<std::string>& names) {
  try {
    refuse_unknown(names);
    return "accepted";
  } catch (const InvalidSetting& error) {
    return error.what();
  }
}

TEST(Settings, of_memory_that_nobody_declares_are_what_was_learned) {
  const auto request_of = [](const Variables& variables) { return parse(variables).entry.request; };
  for (const auto& estimated : {Variables{}, Variables{{"GPUTEST_MEMORY", "auto"}}}) {
    auto learned = estimated;
    learned["GPUTEST_LEARNED"] = "3GiB";
    EXPECT_TRUE(request_of(estimated).is_estimated());
    EXPECT_TRUE(request_of(learned).is_estimated());
    EXPECT_EQ(request_of(learned).bytes, 3_GiB);
  }
  const auto declared = request_of({{"GPUTEST_MEMORY", "small"}, {"GPUTEST_LEARNED", "3GiB"}});
  EXPECT_EQ(declared, Request{MemoryClass::small});
  EXPECT_FALSE(declared.is_estimated());
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
  static_cast<void>(parse_worker(note));
  read.insert("GPUTEST_LIST_FILE");       // test_list_file(), which reads the environment of the process
  read.insert("GPUTEST_DEPTH");           // by forget_entry_above_ctest()
  read.insert("GPUTEST_ENTRY");           // by policy::parse_report_target()
  read.insert("GPUTEST_PATH");            // by who looks for a program as ctest does
  read.insert("GPUTEST_ATTEMPT");         // by TestRun
  read.insert("GPUTEST_ATTEMPT_BECAUSE"); // by `gputest status`
  read.insert("GPUTEST_LEARNED");         // set by ctest's start, for tests of which nobody says the memory
  std::set<std::string> known;
  for (const auto& setting : settings_table()) {
    EXPECT_TRUE(known.insert(setting.name).second) << setting.name;
    EXPECT_NE(settings_reference().find(setting.name), std::string::npos) << setting.name;
    const auto words = words_of(setting);
    EXPECT_TRUE(words.empty() || words.front() == setting.fallback) << setting.name;
  }
  EXPECT_EQ(read, known);
}

TEST(Settings, of_an_entry_without_a_gpu_are_memory_none_or_no_gpus) {
  for (const auto& said : {Variables{{"GPUTEST_MEMORY", "none"}}, Variables{{"GPUTEST_GPUS", "0"}},
                           Variables{{"GPUTEST_MEMORY", "none"}, {"GPUTEST_GPUS", "0"}}}) {
    const auto settings = parse(said);
    EXPECT_TRUE(settings.entry.no_gpu);
    EXPECT_TRUE(settings.entry.request.is_estimated()) << "of a test that says it uses a GPU, and not how much";
  }
  EXPECT_FALSE(parse({{"GPUTEST_MEMORY", "small"}}).entry.no_gpu);
  for (const auto& said : {Variables{{"GPUTEST_MEMORY", "none"}, {"GPUTEST_GPUS", "1"}},
                           Variables{{"GPUTEST_MEMORY", "3GiB"}, {"GPUTEST_GPUS", "0"}}}) {
    EXPECT_THROW(static_cast<void>(parse(said)), InvalidSetting);
  }
}

TEST(SettingsTable, refuses_mistyped_names_with_the_nearest_setting) {
  EXPECT_EQ(message_of({"PATH", "GPUTEST_MEMROY"}),
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

/// `<variable>=<value>` of what restricts, empty if nothing does.
std::string restriction(const Variables& variables, std::size_t devices) {
  const auto list = restriction_of(parse(variables), devices);
  return list ? list->variable + "=" + list->value : "";
}

struct Row {
  Variables variables;
  std::size_t devices;
  std::string restriction;
};

TEST(Restriction, is_that_of_cuda_or_of_slurm) {
  const Variables job{{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_GPUS", "2,3"}};
  const auto with = [&](Variables more) {
    more.insert(job.begin(), job.end());
    return more;
  };
  const std::vector<Row> rows{
      {{}, 4, ""},
      {{{"CUDA_VISIBLE_DEVICES", "1"}}, 4, "CUDA_VISIBLE_DEVICES=1"},
      {{{"CUDA_VISIBLE_DEVICES", ""}}, 4, "CUDA_VISIBLE_DEVICES="},
      {with({{"CUDA_VISIBLE_DEVICES", "0,1"}}), 4, "CUDA_VISIBLE_DEVICES=0,1"},
      {job, 4, "SLURM_JOB_GPUS=2,3"},
      {job, 2, ""}, // the others are hidden: these two are the job's
      {job, 1, ""},
      {with({{"SLURM_STEP_GPUS", "3"}}), 4, "SLURM_STEP_GPUS=3"},
      {with({{"SLURM_STEP_GPUS", ""}}), 4, "SLURM_JOB_GPUS=2,3"},
      {with({{"GPU_DEVICE_ORDINAL", "0"}, {"SLURM_STEP_GPUS", "3"}}), 4, "GPU_DEVICE_ORDINAL=0"},
      {{{"SLURM_JOB_GPUS", "2,3"}}, 4, ""},   // left over from somewhere
      {{{"GPU_DEVICE_ORDINAL", "0"}}, 4, ""}, // somebody else's setting for other GPUs
  };
  for (const auto& row : rows) {
    EXPECT_EQ(restriction(row.variables, row.devices), row.restriction) << row.devices;
  }
}

} // namespace

} // namespace gputest::settings
