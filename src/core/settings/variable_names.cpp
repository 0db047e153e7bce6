// SPDX-License-Identifier: BSD-3-Clause
#include "core/settings/variable_names.hpp"

#include "core/os/environment.hpp"
#include "core/policy/nearest_name.hpp"
#include "core/settings/settings.hpp"

#include <gputest/error.hpp>

namespace gputest::settings {

namespace {

constexpr const char* own_prefix = "GPUTEST_";

/// Variables of the CMake project, of its tests, and GPUTEST_ROOT, where find_package() searches: a script that builds
/// gputest may have them in its environment. And what gpu_discover_tests() sets for an executable that lists its tests.
const std::set<std::string>& other_names() {
  static const std::set<std::string> names{"GPUTEST_BENCHMARKS",
                                           "GPUTEST_BUILD_CLI",
                                           "GPUTEST_BUILD_INSIGHTS",
                                           "GPUTEST_CLANG_FORMAT",
                                           "GPUTEST_CLI",
                                           "GPUTEST_DEVELOPER_MODE",
                                           "GPUTEST_FUZZ",
                                           "GPUTEST_GOOGLETEST_SOURCE",
                                           "GPUTEST_INSTALL",
                                           "GPUTEST_LIST_FILE",
                                           "GPUTEST_ROOT",
                                           "GPUTEST_NINJA",
                                           "GPUTEST_NVIDIA_HEADERS",
                                           "GPUTEST_SANITIZE",
                                           "GPUTEST_TEST_SET"};
  return names;
}

} // namespace

std::set<std::string> names_of_settings() {
  std::set<std::string> names;
  const auto note = [&](const std::string& name) {
    if (name.find(own_prefix) == 0) { // not those of CUDA, CTest, Slurm and MPI
      names.insert(name);
    }
    return std::optional<std::string>{};
  };
  static_cast<void>(parse_settings(note));
  static_cast<void>(parse_entry(note));
  static_cast<void>(parse_entry_watcher(note));
  static_cast<void>(parse_uses_gpu(note));
  return names;
}

void refuse_unknown(const std::vector<std::string>& names) {
  const auto settings = names_of_settings();
  std::string unknown;
  for (const auto& name : names) {
    if (name.find(own_prefix) == 0 && settings.count(name) == 0 && other_names().count(name) == 0) {
      unknown += (unknown.empty() ? "" : ", and ") + name + " (the nearest setting is " +
                 policy::nearest_name(name, settings) + ")";
    }
  }
  if (!unknown.empty()) {
    throw InvalidSetting{"the environment has what is no setting of gputest: " + unknown +
                         ". Correct the name, or unset the variable; names that begin with GPUTEST_ are gputest's"};
  }
}

void refuse_unknown_variables() { refuse_unknown(os::variables_with(own_prefix)); }

} // namespace gputest::settings
