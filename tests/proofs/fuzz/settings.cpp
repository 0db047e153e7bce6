// SPDX-License-Identifier: BSD-3-Clause
// Settings. An input has a variable a line, as `GPUTEST_GPUS=2`.

#include "core/settings/settings.hpp"
#include "proofs/fuzz/fuzzer.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <map>

using namespace gputest;
using tests::require;

namespace {

using Variables = std::map<std::string, std::string>;

Variables read_variables(std::string_view text) {
  Variables variables;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos) {
      variables[std::string{line.substr(0, equals)}] = line.substr(equals + 1);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return variables;
}

void check(const Settings& settings, const Entry& entry) {
  using namespace std::chrono_literals;
  require(entry.request.gpus >= 1 && entry.request.gpus <= 16, "1 to 16 GPUs");
  require(entry.wait_limit >= 0s && entry.wait_limit <= 24h, "a wait of at most a day");
  require(settings.require_gpu || settings.forbid_skip == ForbidSkip::no, "who forbids a skip requires a GPU");
  require(settings.folder.empty() || settings.folder.front() == '/', "a folder is an absolute path");
  const auto devices = settings::parse_devices(settings.devices);
  if (const auto* simulated = std::get_if<policy::SimulatedDevices>(&devices)) {
    require(simulated->count >= 1 && simulated->count <= 16, "1 to 16 simulated devices");
    require(simulated->context < simulated->size, "a context leaves memory");
  }
}

/// Whether a message names a variable that was set, and its value; of a list of capabilities it names one.
bool names_one_of(const Variables& variables, std::string_view message) {
  return std::any_of(variables.begin(), variables.end(), [&](const auto& variable) {
    const auto& [name, value] = variable;
    return tests::contains(message, name) && (name == "GPUTEST_REQUIRES" || tests::contains(message, value));
  });
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Variables variables = read_variables(tests::text_of(data, size));
  const settings::ReadVariable read = [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional{found->second};
  };
  try {
    check(settings::parse_settings(read), settings::parse_entry(read));
  } catch (const InvalidSetting& error) {
    require(names_one_of(variables, error.what()), "a refusal names the variable and its value", error.what());
  }
  return 0;
}
