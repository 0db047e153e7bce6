// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/file.hpp"
#include "core/os/process.hpp"
#include "core/os/program_output.hpp"
#include "core/settings/settings.hpp"
#include "tool/commands.hpp"

#include <gputest/error.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using namespace gputest;       // NOLINT(google-build-using-namespace)
using namespace gputest::tool; // NOLINT(google-build-using-namespace)

constexpr const char* main_help = R"(Examples:
  gputest devices                            lists the GPUs, and how much of each is free
  gputest status                             lists the processes that hold memory or wait for it
  gputest plan --test-dir build --shards 4   splits the suite for four machines
  gputest report --test-dir build            writes a page about the last run
  gputest run --memory 3GiB -- ./solver_test --fast
  GPUTEST_DEVICES=simulated:2x16GiB gputest devices
'gputest COMMAND --help' describes one command.
)";

constexpr const char* other_variables =
    R"(Options of simulated devices: memory_pools, managed_memory, concurrent_managed_access, peer_access, cooperative_launch,
tcc, wddm, mig; each of these also with the prefix no_; sm_<n> (90), context=<size> (512MiB), return=<n>ms,
exclusive_process, prohibited, lost, integrated, no_process_list.
Any other variable that begins with GPUTEST_ is an error.
gputest uses only GPUs that CUDA_VISIBLE_DEVICES allows. For the commands that it starts, it sets this variable to the UUIDs of
their GPUs.)";

std::filesystem::path folder_of_tool() {
  return std::filesystem::path{os::executable_of(os::own_pid()).value_or("")}.parent_path();
}

/// Throws Error if this tool is not installed.
std::string cmake_folder() {
  const auto folder = (folder_of_tool() / GPUTEST_CMAKE_FROM_TOOL).lexically_normal();
  if (!std::filesystem::exists(folder / "gputest-config.cmake")) {
    throw Error{"there is no CMake package in " + folder.string() +
                ": this gputest is not installed. That of a build tree is in its top folder"};
  }
  return folder.string();
}

/// Becomes gputest-insights, which is beside this tool where it was built, or where programs for programs are
/// installed. Returns only if that fails.
int start_insights(std::vector<std::string> arguments) {
  const auto tool = folder_of_tool();
  const auto command = arguments.front();
  auto program = tool / "gputest-insights";
  if (const auto installed = tool / GPUTEST_PROGRAMS_FROM_TOOL / "gputest-insights";
      os::why_not_executable(program.string()) != 0) {
    program = installed;
  }
  arguments.insert(arguments.begin(), program.string());
  const int error = os::become(std::move(arguments));
  fmt::print(
      stderr,
      "gputest: 'gputest {}' is done by the program gputest-insights, which cannot be started: {} ({}). It belongs to "
      "an installed gputest; where gputest is a part of another project, configure that with "
      "-DGPUTEST_BUILD_INSIGHTS=ON and build the target gputest_insights\n",
      command, program.lexically_normal().string(), os::reason(error));
  return to_int(ExitCode::not_found);
}

} // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> arguments{argv + (argc > 0 ? 1 : 0), argv + argc};
  CommandLine line{main_help + exit_codes()};
  line.add_text("--help-settings", "List the settings, which are environment variables", [] {
    return "Settings (environment variables; options take precedence):\n" + settings::settings_reference() + "\n" +
           other_variables;
  });
  line.add_text("--cmake-dir", "Print the folder of the CMake package, for -Dgputest_DIR", cmake_folder);
  add_run(line);
  add_devices(line);
  add_status(line);
  add_needs(line);
  for (const auto& insight : {plan_command, slurm_command, report_command, merge_command}) {
    if (!arguments.empty() && arguments.front() == insight.name) {
      return start_insights(arguments);
    }
    line.add(insight, "", {}); // for the list of commands
  }
  return line.run(arguments);
} catch (const std::exception& error) {
  std::fprintf(stderr, "gputest: %s\n", error.what());
  return to_int(ExitCode::internal_error);
}
