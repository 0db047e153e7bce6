// SPDX-License-Identifier: BSD-3-Clause
#include "tool/commands.hpp"

#include "core/os/environment.hpp"
#include "core/settings/settings.hpp"
#include "tool/launcher.hpp"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <utility>

namespace gputest::tool {

namespace {

constexpr const char* run_help =
    R"(Waits until the memory is free, then replaces itself with COMMAND (exec). A later request never delays an earlier one,
unless programs that are not on the ledger keep that one out.
The process stays the same, so signals, ctest's time limit and the exit status reach it directly. In an entry of
gpu_add_test(), COMMAND is a child process: signals are passed on, and an exit code of 0 or 77 that gputest did not confirm
becomes 1. CUDA_VISIBLE_DEVICES contains the UUIDs of the command's GPUs, and no others. The lease ends when COMMAND and
every process that it started have ended.

Everything after '--' is the command, unchanged. Without '--' the command begins at the first word that is not an option. If
the command uses gputest itself, or calls 'gputest run', it runs under this lease and takes no other.

With --if-gpu, these start at once and without a lease: a command that uses no GPU, a command that only lists its tests (such
as with --gtest_list_tests), a program that links gputest and leases for itself, and every command on a machine without a GPU.
A command counts as using a GPU if its file, or a library that it links, contains the name of a library for GPUs (libcuda.so,
libcudart, libOpenCL), or what OpenMP, OpenACC and SYCL use to offload. Scripts, interpreters, static programs, and programs that load
libraries at run time count too; a library that loads others does not. GPUTEST_USES_GPU=yes or no decides otherwise.

Examples:
  cmake -S . -B build '-DCMAKE_TEST_LAUNCHER=gputest;run;--if-gpu'    a project without gputest
  gputest run -- python3 -m pytest tests/gpu
  gputest run --memory 3GiB -- ./solver_test --memory 7       the second --memory is solver_test's
  gputest run --memory large --large wait -- ./all_of_it
  gputest run --memory 2GiB --gpus 2 --name halo -- mpirun -n 2 ./halo

An option takes precedence over the environment variable in parentheses. 'gputest --help-settings' lists all variables. Once COMMAND
runs, 'gputest run' ends as COMMAND does: with its exit status, or by its signal.
)";

/// What the options say, as the variables that they take the place of. A variable that an option overrides is not read,
/// so it may be unusable.
struct RunOptions {
  std::map<std::string, std::string> variables;
  bool if_gpu = false;
  bool alone = false;

  /// With --alone: adds `alone` to the memory that another option or the environment declares.
  void apply_alone() {
    auto memory = reader()("GPUTEST_MEMORY").value_or("");
    if (alone && memory != "none") {
      memory = memory.empty() ? "auto" : memory;
      const bool says_so =
          memory == "auto alone" || (memory != "auto" && settings::parse_memory(memory, "GPUTEST_MEMORY").alone);
      variables["GPUTEST_MEMORY"] = memory + (says_so ? "" : " alone");
    }
  }

  [[nodiscard]] settings::ReadVariable reader() const {
    return [variables = variables](const char* name) {
      const auto found = variables.find(name);
      return found == variables.end() ? os::read_variable(name) : std::optional{found->second};
    };
  }
};

/// Throws WrongCommandLine if an option has no effect on such a command. gpu_add_test() refuses its keyword, too.
void check_options(const RunOptions& options) {
  const auto says = [&](const char* name, const char* value) {
    const auto found = options.variables.find(name);
    return found != options.variables.end() && found->second == value;
  };
  if (says("GPUTEST_MEMORY", "none") || says("GPUTEST_GPUS", "0")) {
    for (const auto& [given, option] : {std::pair{options.variables.count("GPUTEST_LARGE") != 0, "--large"},
                                        {options.variables.count("GPUTEST_REQUIRES") != 0, "--requires"},
                                        {options.variables.count("GPUTEST_REQUIRE_GPU") != 0, "--require-gpu"},
                                        {options.variables.count("GPUTEST_WAIT_LIMIT") != 0, "--wait-limit"},
                                        {options.alone, "--alone"}}) {
      if (given) {
        throw WrongCommandLine{fmt::format(
            "{} is for a command that uses a GPU, but the memory is none; write how much it needs, or leave {} out",
            option, option)};
      }
    }
    const auto memory = options.variables.find("GPUTEST_MEMORY");
    const auto gpus = options.variables.find("GPUTEST_GPUS");
    if (memory != options.variables.end() && gpus != options.variables.end() &&
        (memory->second == "none") != (gpus->second == "0")) {
      throw WrongCommandLine{
          fmt::format("--memory {} and --gpus {} contradict each other; a command that uses no GPU has "
                      "--memory none or --gpus 0, or both. Leave one of them out",
                      memory->second, gpus->second)};
    }
    return;
  }
  const auto large = options.variables.find("GPUTEST_LARGE");
  if (large == options.variables.end()) {
    return;
  }
  if (const Request request = settings::parse_entry(options.reader()).request;
      request.memory_class != MemoryClass::large) {
    throw WrongCommandLine{fmt::format(
        "--large {} is for large tests, but the memory is {}; write --memory large, or leave --large out",
        large->second, request.bytes ? to_string(*request.bytes) : std::string{to_string(request.memory_class)})};
  }
}

} // namespace

void add_run(CommandLine& line) {
  const auto options = std::make_shared<RunOptions>();
  auto& command = line.add(
      {"run", "Wait for GPU memory, then run a command that uses it"},
      run_help +
          exit_codes({{ExitCode::no_gpu, "no usable GPU although GPUTEST_REQUIRE_GPU=1 or --require-gpu demands one;\n"
                                         "       another skip although GPUTEST_FORBID_SKIP forbids it;\n"
                                         "       or it asks for more than the lease under which it runs"},
                      {ExitCode::wait_limit, "the memory did not become free within the wait limit"},
                      {ExitCode::skipped, "skipped: no GPU, too large for any, or a large test while others run"},
                      {ExitCode::cannot_execute, "the command cannot be executed"},
                      {ExitCode::not_found, "the command is not found"}}),
      [options](const std::vector<std::string>& words) {
        if (words.empty()) {
          throw WrongCommandLine{"there is no command to run; write 'gputest run [OPTIONS] -- COMMAND [ARGUMENT...]'"};
        }
        settings::forget_entry_above_ctest();
        options->apply_alone();
        check_options(*options);
        return launch_command({options->reader(), words, options->if_gpu});
      }, // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): of std::function
      "[OPTIONS] [--] COMMAND [ARGUMENT...]");
  command.prefix_command(); // which begins at the first word that is not an option
  const auto add = [&](const char* name, const char* variable, const char* values, const char* text, auto check) {
    command
        .add_option_function<std::string>(
            name,
            [options, name, variable, check](const std::string& value) {
              check(value, name);
              options->variables[variable] = value;
            },
            fmt::format("{} ({})", text, variable))
        ->type_name(values);
  };
  add("--memory", "GPUTEST_MEMORY", "auto|small|medium|large|SIZE|none",
      "memory per device; a size is such as 3GiB; none: run at once, without a lease", [](const auto& text, auto name) {
        if (text != "none" && text != "auto") {
          static_cast<void>(settings::parse_memory(text, name));
        }
      });
  add("--requires", "GPUTEST_REQUIRES", "WORDS", "what each GPU must have, such as \"memory_pools sm_80\"",
      parse_capabilities);
  add("--large", "GPUTEST_LARGE", "exclude|serial|wait", "what a large test does while others run", parse_large_policy);
  add("--name", "GPUTEST_TEST", "TEST", "the test's name, for messages and 'gputest status'", [](auto&...) {});
  add("--wait-limit", "GPUTEST_WAIT_LIMIT", "DURATION", "longest wait, as 90s, 20min or 1h", settings::parse_duration);
  command
      .add_option_function<int>(
          "--gpus", [options](int gpus) { options->variables["GPUTEST_GPUS"] = std::to_string(gpus); },
          "number of GPUs (GPUTEST_GPUS); 0 is --memory none")
      ->type_name("N")
      ->check(CLI::Range(0, 16));
  command.add_flag_callback(
      "--require-gpu", [options] { options->variables["GPUTEST_REQUIRE_GPU"] = "1"; },
      "fail instead of skip if there is no GPU (GPUTEST_REQUIRE_GPU)");
  command.add_flag("--alone", options->alone, "no other process uses the GPUs meanwhile ('alone' in GPUTEST_MEMORY)");
  command.add_flag("--if-gpu", options->if_gpu, "take a lease only if the command uses a GPU, and if there is one");
}

} // namespace gputest::tool
