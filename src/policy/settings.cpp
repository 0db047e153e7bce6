#include "policy/settings.hpp"

#include "policy/memory_kind.hpp"

#include <gputest/error.hpp>

#include <charconv>
#include <string_view>

namespace gputest::policy {

namespace {

bool parse_switch(const ReadVariable& read, const char* name) {
  const auto value = read(name);
  if (!value || value->empty() || *value == "0") {
    return false;
  }
  if (*value == "1") {
    return true;
  }
  throw InvalidSetting{std::string{name} + "='" + *value + "' is neither 0 nor 1"};
}

RunModeSetting parse_run_mode(const std::string& text) {
  if (text == "auto") {
    return RunModeSetting::automatic;
  }
  if (text == "serial") {
    return RunModeSetting::serial;
  }
  if (text == "parallel") {
    return RunModeSetting::parallel;
  }
  throw InvalidSetting{"GPUTEST_RUN_MODE='" + text + "' is unknown; it is one of auto, serial, parallel"};
}

} // namespace

DevicesSetting parse_devices(const std::string& text) {
  constexpr std::string_view simulated = "simulated:";
  if (text == "all") {
    return AllDevices{};
  }
  if (text == "none") {
    return NoDevices{};
  }
  const auto refuse = [&](const std::string& why) {
    return InvalidSetting{"GPUTEST_DEVICES='" + text + "' " + why +
                          "; it is all, none, or simulated:<n>x<size>[,<option>...], such as simulated:2x16GiB"};
  };
  if (text.compare(0, simulated.size(), simulated) != 0) {
    throw refuse("is unknown");
  }
  try {
    return parse_simulated_devices(text.substr(simulated.size()));
  } catch (const InvalidSetting& error) {
    throw refuse("cannot be used: " + std::string{error.what()});
  }
}

std::chrono::seconds parse_duration(const std::string& text, const std::string& what) {
  constexpr int most_seconds = 24 * 60 * 60;
  const auto digits = text.find_first_not_of("0123456789");
  const std::string unit = digits == std::string::npos ? "" : text.substr(digits);
  const int seconds_per_unit = unit == "s" ? 1 : unit == "min" ? 60 : unit == "h" ? 3600 : 0;
  if (seconds_per_unit == 0 || digits == 0) {
    throw InvalidSetting{what + "='" + text + "' is not a duration; write 90s, 20min or 1h"};
  }
  int count = 0;
  const auto result = std::from_chars(text.data(), text.data() + digits, count);
  if (result.ec != std::errc{} || count > most_seconds / seconds_per_unit) {
    throw InvalidSetting{what + "='" + text + "' is more than 24h, the longest that is accepted"};
  }
  return std::chrono::seconds{count * seconds_per_unit};
}

Settings parse_settings(const ReadVariable& read) {
  constexpr int most_gpus = 16;
  const auto text = [&](const char* name, const char* fallback) {
    const auto value = read(name);
    return value && !value->empty() ? *value : std::string{fallback};
  };
  Settings settings;
  settings.devices = parse_devices(text("GPUTEST_DEVICES", "all"));
  settings.requirement = parse_requirement(text("GPUTEST_MEMORY", "small"), "GPUTEST_MEMORY");
  settings.requirement.gpus = parse_int(text("GPUTEST_GPUS", "1"), 1, most_gpus, "GPUTEST_GPUS");
  if (const auto heap = text("GPUTEST_HEAP", ""); !heap.empty()) {
    settings.requirement.heap = parse_bytes(heap, "GPUTEST_HEAP");
  }
  settings.requirement.capabilities = parse_capabilities(text("GPUTEST_REQUIRES", ""), "GPUTEST_REQUIRES");
  settings.large = parse_large_policy(text("GPUTEST_LARGE", "exclude"), "GPUTEST_LARGE");
  settings.test = text("GPUTEST_TEST", "");
  settings.forbid_skip = parse_switch(read, "GPUTEST_FORBID_SKIP");
  settings.require_gpu = parse_switch(read, "GPUTEST_REQUIRE_GPU") || settings.forbid_skip;
  // CTest ends a test after 1500 s by default: a wait has to end before that, in an error that names the holder.
  settings.wait_limit = parse_duration(text("GPUTEST_WAIT_LIMIT", "20min"), "GPUTEST_WAIT_LIMIT");
  settings.run_mode = parse_run_mode(text("GPUTEST_RUN_MODE", "auto"));
  settings.memory_resource = parse_memory_kind(text("GPUTEST_MEMORY_RESOURCE", "auto"));
  if (const auto size = text("GPUTEST_DEVICE_MEMORY", ""); !size.empty()) {
    settings.device_memory = parse_bytes(size, "GPUTEST_DEVICE_MEMORY");
  }
  settings.folder = text("GPUTEST_DIR", "/dev/shm/gputest");
  settings.lease_of = text("GPUTEST_LEASE_OF", "");
  return settings;
}

} // namespace gputest::policy
