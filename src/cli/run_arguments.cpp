#include "cli/run_arguments.hpp"

#include <string_view>

namespace gputest::cli {

policy::Settings settings_of(const RunArguments& arguments, const policy::ReadVariable& read) {
  const auto overridden = [&](std::string_view variable) {
    return (variable == "GPUTEST_MEMORY" && arguments.memory) || (variable == "GPUTEST_GPUS" && arguments.gpus) ||
           (variable == "GPUTEST_REQUIRES" && arguments.required) || (variable == "GPUTEST_LARGE" && arguments.large) ||
           (variable == "GPUTEST_TEST" && arguments.name) ||
           (variable == "GPUTEST_WAIT_LIMIT" && arguments.wait_limit) ||
           (variable == "GPUTEST_REQUIRE_GPU" && arguments.require_gpu);
  };
  policy::Settings settings = policy::parse_settings(
      [&](const char* name) { return overridden(name) ? std::optional<std::string>{} : read(name); });

  const int gpus = arguments.gpus.value_or(settings.requirement.gpus);
  const Bytes heap = settings.requirement.heap;
  const Capabilities capabilities = arguments.required.value_or(settings.requirement.capabilities);
  settings.requirement = arguments.memory.value_or(settings.requirement);
  settings.requirement.gpus = gpus;
  settings.requirement.heap = heap;
  settings.requirement.capabilities = capabilities;
  settings.large = arguments.large.value_or(settings.large);
  settings.test = arguments.name.value_or(settings.test);
  settings.wait_limit = arguments.wait_limit.value_or(settings.wait_limit);
  settings.require_gpu = settings.require_gpu || arguments.require_gpu;
  return settings;
}

std::string name_of(const policy::Settings& settings, const std::vector<std::string>& command) {
  if (!settings.test.empty() || command.empty()) {
    return settings.test;
  }
  return command.front().substr(command.front().find_last_of('/') + 1);
}

} // namespace gputest::cli
