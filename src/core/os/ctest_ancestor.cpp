// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/ctest_ancestor.hpp"

#include "core/os/process.hpp"

#include <algorithm>

namespace gputest::os {

namespace {

pid_t& ctest_of_worker() {
  static pid_t pid = 0;
  return pid;
}

bool is_ctest(const std::string& path) {
  const auto name = path.substr(path.rfind('/') + 1);
  return name == "ctest" || name == "ctest3"; // as some distributions call it beside an older one
}

} // namespace

std::optional<CtestAncestor> find_ctest() {
  for (auto pid = is_worker() ? std::optional{ctest_of_worker()} : parent_of(own_pid()); pid; pid = parent_of(*pid)) {
    auto command = command_line_of(*pid);
    // Of another user's process only the command line may be read.
    if (command.empty() || !is_ctest(executable_of(*pid).value_or(command.front()))) {
      continue;
    }
    command.erase(command.begin());
    if (std::find(command.begin(), command.end(), "--build-and-test") == command.end()) {
      return CtestAncestor{*pid, std::move(command)};
    }
  }
  return std::nullopt;
}

void set_ctest_of_process(pid_t ctest) { ctest_of_worker() = ctest; }

bool is_worker() { return ctest_of_worker() > 0; }

} // namespace gputest::os
