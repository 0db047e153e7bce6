#pragma once

#include "policy/simulated_devices.hpp"

#include <gputest/memory_kind.hpp>
#include <gputest/requirement.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <variant>

namespace gputest::policy {

/// All GPUs that CUDA_VISIBLE_DEVICES allows.
struct AllDevices {};

/// No GPU, as on a machine without one.
struct NoDevices {};

using DevicesSetting = std::variant<AllDevices, NoDevices, SimulatedDevices>;

/// What GPUTEST_RUN_MODE says.
enum class RunModeSetting { automatic, serial, parallel };

/// Every setting, read once; src/DESIGN.md and the README have the table.
struct Settings {
  DevicesSetting devices = AllDevices{};
  Requirement requirement; ///< of tests that say nothing themselves
  LargePolicy large = LargePolicy::exclude;
  std::string test; ///< CTest's name of the test; empty if gpu_add_test() did not set it
  bool require_gpu = false;
  bool forbid_skip = false;
  std::chrono::seconds wait_limit{};
  RunModeSetting run_mode = RunModeSetting::automatic;
  std::optional<Bytes> device_memory;        ///< every decision as on devices of at most so much
  std::optional<MemoryKind> memory_resource; ///< what memory resources are to take; nullopt: what the device can
  std::string folder;                        ///< of the ledger
  std::string lease_of;                      ///< GPUTEST_LEASE_OF, see session
};

/// Reads the value of an environment variable, nullopt if it is not set.
using ReadVariable = std::function<std::optional<std::string>(const char* name)>;

/// Reads all settings. Throws InvalidSetting, naming the variable, its value, what is allowed and an example.
[[nodiscard]] Settings parse_settings(const ReadVariable& read);

/// Reads `all`, `none` or `simulated:<n>x<size>[,<option>...]`, with 1 to 16 devices. Throws InvalidSetting.
[[nodiscard]] DevicesSetting parse_devices(const std::string& text);

/// Reads `90s`, `20min` or `1h`, at most 24 h. Throws InvalidSetting naming `what`.
[[nodiscard]] std::chrono::seconds parse_duration(const std::string& text, const std::string& what);

} // namespace gputest::policy
