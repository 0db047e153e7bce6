// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/settings/settings.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace gputest::tool {

/// What the command line of `gputest run` says. What it leaves out comes from the environment.
struct RunArguments {
  std::optional<Request> memory; ///< --memory; its number of GPUs means nothing
  std::optional<int> gpus;
  std::optional<Capabilities> required; ///< --requires
  std::optional<LargePolicy> large;
  std::optional<std::string> name;
  std::optional<std::chrono::seconds> wait_limit;
  bool require_gpu = false;
  bool if_gpu = false;              ///< --if-gpu
  std::vector<std::string> command; ///< and its arguments, not changed
};

/// What `gputest run` uses.
struct Run {
  Settings settings;
  Entry entry;
};

/// The environment's settings and entry, overridden by the command line.
///
/// A variable that an option overrides is not read, so it may be unusable. Throws InvalidSetting for the variables that
/// are read.
[[nodiscard]] Run run_of(const RunArguments& arguments, const settings::ReadVariable& read);

/// The name under which others see this run: the test's, if it has one, else the command's without its folder.
[[nodiscard]] std::string name_of(const Entry& entry, const std::vector<std::string>& command);

} // namespace gputest::tool
