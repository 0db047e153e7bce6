#include "policy/settings.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace gputest::policy {
namespace {

using namespace literals;
using namespace std::chrono_literals;
using Variables = std::map<std::string, std::string>;

Settings parse(const Variables& variables) {
  return parse_settings([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional{found->second};
  });
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

TEST(Settings, have_defaults) {
  const Settings settings = parse({});
  EXPECT_TRUE(std::holds_alternative<AllDevices>(settings.devices));
  EXPECT_EQ(settings.requirement, Requirement{MemoryClass::small});
  EXPECT_EQ(settings.large, LargePolicy::exclude);
  EXPECT_EQ(settings.test, "");
  EXPECT_FALSE(settings.require_gpu);
  EXPECT_FALSE(settings.forbid_skip);
  EXPECT_EQ(settings.wait_limit, 20min);
  EXPECT_EQ(settings.run_mode, RunModeSetting::automatic);
  EXPECT_EQ(settings.requirement.heap, 0_B);
  EXPECT_EQ(settings.memory_resource, std::nullopt);
  EXPECT_EQ(settings.folder, "/dev/shm/gputest");
  EXPECT_EQ(settings.lease_of, "");
}

TEST(Settings, that_are_empty_count_as_not_set) {
  Variables empty;
  for (const char* name : {"GPUTEST_DEVICES", "GPUTEST_MEMORY", "GPUTEST_GPUS", "GPUTEST_LARGE", "GPUTEST_TEST",
                           "GPUTEST_FORBID_SKIP", "GPUTEST_REQUIRE_GPU", "GPUTEST_WAIT_LIMIT", "GPUTEST_RUN_MODE",
                           "GPUTEST_DIR", "GPUTEST_LEASE_OF", "GPUTEST_REQUIRES", "GPUTEST_DEVICE_MEMORY"}) {
    empty[name] = "";
  }
  const Settings settings = parse(empty);
  EXPECT_TRUE(std::holds_alternative<AllDevices>(settings.devices));
  EXPECT_EQ(settings.requirement, Requirement{MemoryClass::small});
  EXPECT_EQ(settings.large, LargePolicy::exclude);
  EXPECT_EQ(settings.wait_limit, 20min);
  EXPECT_EQ(settings.folder, "/dev/shm/gputest");
  EXPECT_FALSE(settings.require_gpu);
  EXPECT_EQ(settings.run_mode, RunModeSetting::automatic);
  EXPECT_EQ(settings.device_memory, std::nullopt);
}

TEST(Settings, are_read_from_their_variables) {
  const Settings settings = parse({{"GPUTEST_DEVICES", "none"},
                                   {"GPUTEST_MEMORY", "3GiB"},
                                   {"GPUTEST_GPUS", "2"},
                                   {"GPUTEST_REQUIRES", "memory_pools sm_80"},
                                   {"GPUTEST_DEVICE_MEMORY", "8GiB"},
                                   {"GPUTEST_HEAP", "64MiB"},
                                   {"GPUTEST_LARGE", "wait"},
                                   {"GPUTEST_TEST", "solver"},
                                   {"GPUTEST_REQUIRE_GPU", "1"},
                                   {"GPUTEST_FORBID_SKIP", "0"},
                                   {"GPUTEST_WAIT_LIMIT", "90s"},
                                   {"GPUTEST_RUN_MODE", "serial"},
                                   {"GPUTEST_MEMORY_RESOURCE", "malloc"},
                                   {"GPUTEST_DIR", "/var/gputest"},
                                   {"GPUTEST_LEASE_OF", "3:1234"}});
  EXPECT_TRUE(std::holds_alternative<NoDevices>(settings.devices));
  EXPECT_EQ(settings.requirement.bytes, 3_GiB);
  EXPECT_EQ(settings.requirement.gpus, 2);
  EXPECT_EQ(settings.requirement.capabilities, (Capabilities{capabilities::memory_pools, capabilities::sm(80)}));
  EXPECT_EQ(settings.device_memory, 8_GiB);
  EXPECT_EQ(settings.large, LargePolicy::wait);
  EXPECT_EQ(settings.test, "solver");
  EXPECT_TRUE(settings.require_gpu);
  EXPECT_FALSE(settings.forbid_skip);
  EXPECT_EQ(settings.wait_limit, 90s);
  EXPECT_EQ(settings.run_mode, RunModeSetting::serial);
  EXPECT_EQ(settings.requirement.heap, 64_MiB);
  EXPECT_EQ(settings.memory_resource, MemoryKind::malloc);
  EXPECT_EQ(settings.folder, "/var/gputest");
  EXPECT_EQ(settings.lease_of, "3:1234");
}

TEST(Settings, that_forbid_a_skip_require_a_gpu) {
  const Settings settings = parse({{"GPUTEST_FORBID_SKIP", "1"}});
  EXPECT_TRUE(settings.forbid_skip);
  EXPECT_TRUE(settings.require_gpu);
}

TEST(Settings, read_every_run_mode) {
  EXPECT_EQ(parse({{"GPUTEST_RUN_MODE", "auto"}}).run_mode, RunModeSetting::automatic);
  EXPECT_EQ(parse({{"GPUTEST_RUN_MODE", "serial"}}).run_mode, RunModeSetting::serial);
  EXPECT_EQ(parse({{"GPUTEST_RUN_MODE", "parallel"}}).run_mode, RunModeSetting::parallel);
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
      {"GPUTEST_DEVICES", "simulated", "GPUTEST_DEVICES='simulated' is unknown" + devices_advice},
      {"GPUTEST_DEVICES", "simulated:16GiB",
       "GPUTEST_DEVICES='simulated:16GiB' cannot be used: '16GiB' has no number of devices" + devices_advice},
      {"GPUTEST_DEVICES", "simulated:0x16GiB",
       "GPUTEST_DEVICES='simulated:0x16GiB' cannot be used: the number of devices '0' is not a whole number from 1 to "
       "16" +
           devices_advice},
      {"GPUTEST_DEVICES", "simulated:17x16GiB",
       "GPUTEST_DEVICES='simulated:17x16GiB' cannot be used: the number of devices '17' is not a whole number from 1 "
       "to 16" +
           devices_advice},
      {"GPUTEST_DEVICES", "simulated:2x16",
       "GPUTEST_DEVICES='simulated:2x16' cannot be used: the size of a device '16' has no unit" + size_advice +
           devices_advice},
      {"GPUTEST_DEVICES", "simulated:2x16GiB,tcc,wddm",
       "GPUTEST_DEVICES='simulated:2x16GiB,tcc,wddm' cannot be used: the option 'wddm' contradicts tcc: a device has "
       "one "
       "driver model; options are memory_pools, managed_memory, concurrent_managed_access, peer_access, "
       "cooperative_launch, tcc, wddm, mig, each of these with no_ before it, sm_<n>, exclusive_process, prohibited, "
       "lost, integrated, no_process_list, context=<size>, return=<n>ms" +
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
      {"GPUTEST_MEMORY", "huge",
       "GPUTEST_MEMORY 'huge' is unknown; it is one of small, medium, large, or a size such as 3GiB"},
      {"GPUTEST_GPUS", "0", "GPUTEST_GPUS '0' is not a whole number from 1 to 16"},
      {"GPUTEST_GPUS", "two", "GPUTEST_GPUS 'two' is not a whole number from 1 to 16"},
      {"GPUTEST_GPUS", "2 ", "GPUTEST_GPUS '2 ' is not a whole number from 1 to 16"},
      {"GPUTEST_LARGE", "skip", "GPUTEST_LARGE 'skip' is unknown; it is one of exclude, serial, wait"},
      {"GPUTEST_REQUIRE_GPU", "yes", "GPUTEST_REQUIRE_GPU='yes' is neither 0 nor 1"},
      {"GPUTEST_FORBID_SKIP", "2", "GPUTEST_FORBID_SKIP='2' is neither 0 nor 1"},
      {"GPUTEST_WAIT_LIMIT", "20", "GPUTEST_WAIT_LIMIT='20' is not a duration; write 90s, 20min or 1h"},
      {"GPUTEST_WAIT_LIMIT", "20m", "GPUTEST_WAIT_LIMIT='20m' is not a duration; write 90s, 20min or 1h"},
      {"GPUTEST_WAIT_LIMIT", "25h", "GPUTEST_WAIT_LIMIT='25h' is more than 24h, the longest that is accepted"},
      {"GPUTEST_WAIT_LIMIT", "86401s", "GPUTEST_WAIT_LIMIT='86401s' is more than 24h, the longest that is accepted"},
      {"GPUTEST_WAIT_LIMIT", "99999999999min",
       "GPUTEST_WAIT_LIMIT='99999999999min' is more than 24h, the longest that is accepted"},
      {"GPUTEST_WAIT_LIMIT", "h", "GPUTEST_WAIT_LIMIT='h' is not a duration; write 90s, 20min or 1h"},
      {"GPUTEST_RUN_MODE", "fast", "GPUTEST_RUN_MODE='fast' is unknown; it is one of auto, serial, parallel"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(message_of(c.name, c.value), c.message);
  }
}

TEST(DevicesSetting, reads_simulated_devices) {
  struct Case {
    std::string text;
    int count;
    Bytes size;
    Bytes context;
  };
  const std::vector<Case> cases{
      {"simulated:2x16GiB", 2, 16_GiB, 512_MiB},
      {"simulated:16x1TiB", 16, 1_TiB, 512_MiB},
      {"simulated:1x1GiB,context=64MiB", 1, 1_GiB, 64_MiB},
      {"simulated:1x1MiB,context=0", 1, 1_MiB, 0_B},
  };
  for (const auto& c : cases) {
    const auto setting = std::get<SimulatedDevices>(parse_devices(c.text));
    EXPECT_EQ(setting.count, c.count) << c.text;
    EXPECT_EQ(setting.size, c.size) << c.text;
    EXPECT_EQ(setting.context, c.context) << c.text;
  }
  EXPECT_TRUE(std::holds_alternative<AllDevices>(parse_devices("all")));
}

TEST(Duration, is_read_with_its_unit) {
  EXPECT_EQ(parse_duration("0s", "x"), 0s);
  EXPECT_EQ(parse_duration("90s", "x"), 90s);
  EXPECT_EQ(parse_duration("20min", "x"), 20min);
  EXPECT_EQ(parse_duration("24h", "x"), 24h);
  EXPECT_EQ(parse_duration("86400s", "x"), 24h);
}

} // namespace
} // namespace gputest::policy
