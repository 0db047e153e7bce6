// SPDX-License-Identifier: BSD-3-Clause
#include "tool/run_arguments.hpp"

#include <string_view>

namespace gputest::tool {

Run run_of(const RunArguments& arguments, const settings::ReadVariable& read) {
  const auto overridden = [&](std::string_view variable) {
    return (variable == "GPUTEST_MEMORY" && arguments.memory) || (variable == "GPUTEST_GPUS" && arguments.gpus) ||
           (variable == "GPUTEST_REQUIRES" && arguments.required) || (variable == "GPUTEST_LARGE" && arguments.large) ||
           (variable == "GPUTEST_TEST" && arguments.name) ||
           (variable == "GPUTEST_WAIT_LIMIT" && arguments.wait_limit) ||
           (variable == "GPUTEST_REQUIRE_GPU" && arguments.require_gpu);
  };
  const auto read_rest = [&](const char* name) { return overridden(name) ? std::optional<std::string>{} : read(name); };
  Run run{settings::parse_settings(read_rest), settings::parse_entry(read_rest)};
  run.settings.require_gpu = run.settings.require_gpu || arguments.require_gpu;

  Entry& entry = run.entry;
  if (arguments.memory) {
    entry.request.memory_class = arguments.memory->memory_class;
    entry.request.bytes = arguments.memory->bytes;
  }
  entry.request.gpus = arguments.gpus.value_or(entry.request.gpus);
  entry.request.capabilities = arguments.required.value_or(entry.request.capabilities);
  entry.large = arguments.large.value_or(entry.large);
  entry.name = arguments.name.value_or(entry.name);
  entry.wait_limit = arguments.wait_limit.value_or(entry.wait_limit);
  return run;
}

std::string name_of(const Entry& entry, const std::vector<std::string>& command) {
  if (!entry.name.empty() || command.empty()) {
    return entry.name;
  }
  return command.front().substr(command.front().find_last_of('/') + 1);
}

} // namespace gputest::tool
