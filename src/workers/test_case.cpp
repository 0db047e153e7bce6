// SPDX-License-Identifier: BSD-3-Clause
#include "workers/test_case.hpp"

#include "core/os/environment.hpp"
#include "core/os/file.hpp"
#include "core/os/process.hpp"
#include "core/policy/mpi_rank.hpp"
#include "core/policy/report_target.hpp"
#include "core/policy/text.hpp"
#include "workers/meeting_place.hpp"
#include "workers/worker_message.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string_view>

#include <sched.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/stat.h>

namespace gputest::workers {

namespace {

bool belongs_to_case(std::string_view assignment) {
  return std::any_of(std::begin(variables_of_case), std::end(variables_of_case),
                     [&](const char* name) { return policy::starts_with(assignment, name); });
}

const std::string& status_of_process() {
  static const auto status = os::record_of_proc("/proc/self/status").value_or("");
  return status;
}

/// A reason that the environment or a limit of the process gives, of this run or of the entry.
std::string reason_by_environment() {
  if (const auto target = policy::parse_report_target(os::variable("GPUTEST_ENTRY"));
      !target.ctest || !target.believes_exit_code()) {
    return target.will_fail            ? "it is expected to fail (WILL_FAIL)"
           : target.checks_output_only ? "it is judged by its output (PASS_, FAIL_ or SKIP_REGULAR_EXPRESSION)"
                                       : "CTest has not started it";
  }
  if (const auto memory = os::variable("GPUTEST_MEMORY"); memory.rfind("large", 0) == 0) {
    return "it is large";
  } else if (memory.find(" alone") != std::string::npos) {
    return "it is alone on its device";
  }
  if (const auto gpus = os::variable("GPUTEST_GPUS"); !gpus.empty() && gpus != "1") {
    return "it needs several GPUs";
  }
  if (!os::variable("GPUTEST_HEAP").empty()) {
    return "it sets the device heap";
  }
  if (!os::variable("GPUTEST_LEASE_OF").empty()) {
    return "it runs under a lease of another process (GPUTEST_LEASE_OF)";
  }
  if (const auto rank = policy::mpi_variable(os::read_variable); !rank.empty()) {
    return "it is a rank of an MPI program (" + rank + ")";
  }
  for (const char* const tool : {"CUDA_INJECTION64_PATH", "CUDA_INJECTION32_PATH"}) {
    if (!os::variable(tool).empty()) {
      return std::string{"a tool is attached to it ("} + tool + ")";
    }
  }
  const auto preload = os::variable("LD_PRELOAD");
  if (preload.find("anitizer") != std::string::npos || preload.find("vgpreload") != std::string::npos) {
    return "a tool is attached to it (LD_PRELOAD). valgrind checks it only with VALGRIND_OPTS=--trace-children=yes";
  }
  for (const char* const setting : {"GTEST_OUTPUT", "XML_OUTPUT_FILE", "GTEST_BREAK_ON_FAILURE", "GTEST_FLAGFILE"}) {
    if (!os::variable(setting).empty()) {
      return std::string{setting} + " is set";
    }
  }
  rlimit time{};
  if (::getrlimit(RLIMIT_CPU, &time) == 0 && time.rlim_cur != RLIM_INFINITY) { // so it is if the hard limit is finite
    return "its processor time is limited (ulimit -t)"; // cases of a worker would use it up together
  }
  return os::is_traced(status_of_process()) ? "a debugger holds it" : "";
}

/// A text that is the same for two processes only if all that was added is.
class Text {
public:
  template <class... Numbers>
  void add_numbers(Numbers... numbers) {
    ((text_ += std::to_string(numbers) += '\0'), ...);
  }
  void add(std::string_view part) {
    add_numbers(part.size());
    text_ += part;
  }
  void add_file(const struct stat& file) {
    add_numbers(file.st_dev, file.st_ino, file.st_size, file.st_mtim.tv_sec, file.st_mtim.tv_nsec, file.st_ctim.tv_sec,
                file.st_ctim.tv_nsec);
  }
  [[nodiscard]] std::string hash() const { return std::to_string(std::hash<std::string>{}(text_)); }

private:
  std::string text_;
};

/// What a process inherits and cannot be changed for one case alone.
void add_inherited(Text& text) {
  for (const char* const field :
       {"Uid", "Gid", "Groups", "Umask", "SigBlk", "SigIgn", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb",
        "NoNewPrivs", "Seccomp", "Seccomp_filters", "Cpus_allowed", "Mems_allowed"}) {
    text.add(os::field_of_status(status_of_process(), field));
  }
  text.add(os::record_of_proc("/proc/self/limits").value_or(""));
  text.add_numbers(::getpriority(PRIO_PROCESS, 0), ::sched_getscheduler(0), ::personality(0xFFFFFFFF)); // asks
  for (const char* const space : {"mnt", "net", "ipc", "uts", "cgroup"}) {
    struct stat file {};
    ::stat((std::string{"/proc/self/ns/"} + space).c_str(), &file);
    text.add_numbers(file.st_ino);
  }
}

} // namespace

bool umask_is_for_owner() {
  const auto umask = os::field_of_status(status_of_process(), "Umask");
  return umask.empty() || (std::strtol(umask.c_str(), nullptr, 8) & S_IRWXU) != 0;
}

TestCase read_test_case(std::vector<std::string> arguments) {
  TestCase test;
  const auto take = [&](std::string_view option, std::string& value) {
    if (!arguments.empty() && policy::starts_with(arguments.front(), option)) {
      value = arguments.front().substr(option.size());
      arguments.erase(arguments.begin());
    }
  };
  take("--own-process=", test.reason_for_own_process);
  take("--fixtures=", test.fixtures);
  if (!arguments.empty() && arguments.front() == "--long") {
    test.was_long = true;
    arguments.erase(arguments.begin());
  }
  test.command = std::move(arguments);
  for (std::size_t i = 1; i < test.command.size(); ++i) {
    const auto& argument = test.command[i];
    const auto value = argument.substr(std::min(argument.find('=') + 1, argument.size()));
    if (policy::starts_with(argument, "--gtest_filter=")) {
      test.filter = value;
    } else if (policy::starts_with(argument, "--gtest_output=")) {
      const auto colon = value.find(':');
      test.report_format = value.substr(0, colon);
      test.report = colon == std::string::npos ? "" : value.substr(colon + 1);
      if (test.report.empty() || test.report.back() == '/') {
        test.reason_for_own_process = "GoogleTest chooses the name of its report";
      }
    } else {
      test.arguments.push_back(argument);
      for (const char* const flag : {"--gtest_break_on_failure", "--gtest_list_tests", "--gtest_flagfile", "--help"}) {
        if (policy::starts_with(argument, flag)) {
          test.reason_for_own_process = "of its argument " + argument;
        }
      }
    }
  }
  for (auto& assignment : os::environment()) {
    if (belongs_to_case(assignment)) {
      test.variables.push_back(std::move(assignment));
    }
  }
  test.name = os::variable("GPUTEST_TEST");
  if (test.name.empty()) {
    test.name = test.filter;
  }
  test.dependence_fails = os::variable("GPUTEST_DEPENDENCE") != "show";
  test.limit = policy::parse_time_limit(os::variable("GPUTEST_TIMEOUT"));
  if (os::variable("GPUTEST_ISOLATION") == "process") {
    test.reason_for_own_process = "GPUTEST_ISOLATION=process";
    test.prints_reason = false; // who set it knows
  } else if (test.limit && test.limit->signal() != 0) {
    test.reason_for_own_process = "of its property TIMEOUT_SIGNAL_NAME";
  } else if (test.reason_for_own_process.empty()) {
    test.reason_for_own_process = test.filter.empty() ? "it has no --gtest_filter" : reason_by_environment();
  }
  return test;
}

std::string worker_key_of(const TestCase& test) {
  Text text;
  struct stat executable {};
  struct stat folder {};
  if (::stat(test.command.front().c_str(), &executable) != 0 || ::stat(".", &folder) != 0) {
    return {};
  }
  text.add(test.command.front());
  text.add_file(executable);
  text.add(test.report_format);
  text.add(test.fixtures);
  text.add_numbers(test.arguments.size());
  for (const auto& argument : test.arguments) {
    text.add(argument);
  }
  text.add_numbers(folder.st_dev, folder.st_ino); // not its times: a test may write files there
  for (const auto& assignment : os::environment()) {
    // Where CTest has put the case: the device matters, how much of it does not.
    if (policy::starts_with(assignment, "CTEST_RESOURCE_GROUP")) {
      text.add(assignment.substr(0, assignment.find(",slots:")));
    } else if (!belongs_to_case(assignment)) {
      text.add(assignment);
    }
  }
  add_inherited(text);
  return text.hash();
}

std::chrono::milliseconds time_limit_of(const TestCase& test) {
  return test.limit ? test.limit->duration : usual_time_limit;
}

} // namespace gputest::workers
