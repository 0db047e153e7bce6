#pragma once

#include "policy/settings.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace gputest::cli {

/// What the command line of `gputest run` says. What it leaves out comes from the environment.
struct RunArguments {
  std::optional<Requirement> memory; ///< --memory; its number of GPUs means nothing
  std::optional<int> gpus;
  std::optional<Capabilities> required; ///< --requires
  std::optional<LargePolicy> large;
  std::optional<std::string> name;
  std::optional<std::chrono::seconds> wait_limit;
  bool require_gpu = false;
  std::vector<std::string> command; ///< and its arguments, not changed
};

/// The settings of a run: the environment's, overridden by the command line's.
///
/// A variable that an option overrides is not read, so an unusable one does no harm then. Throws InvalidSetting for
/// those that are read.
[[nodiscard]] policy::Settings settings_of(const RunArguments& arguments, const policy::ReadVariable& read);

/// The name under which others see this run: the test's, if it has one, else the command's without its folder.
[[nodiscard]] std::string name_of(const policy::Settings& settings, const std::vector<std::string>& command);

} // namespace gputest::cli
