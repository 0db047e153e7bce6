// SPDX-License-Identifier: BSD-3-Clause
#include "proofs/steps/asleep.hpp"

#include "proofs/steps/faults.hpp"

#include <fstream>
#include <optional>
#include <string>

namespace gputest::tests {

namespace {

/// Whether the kernel has not begun to wake it: one that is being woken on another core is still in its system call.
bool is_still_asleep(pid_t process) {
  std::ifstream file{"/proc/" + std::to_string(process) + "/stat"};
  std::string line;
  std::getline(file, line);
  const auto name_end = line.rfind(')'); // the name before it may contain anything
  return name_end != std::string::npos && line.compare(name_end, 3, ") S") == 0;
}

/// The system call that a process is blocked in; the kernel says `running` of one that is not blocked.
std::optional<SystemCall> blocked_in(pid_t process) {
  std::ifstream file{"/proc/" + std::to_string(process) + "/syscall"};
  SystemCall call;
  if (!(file >> call.number)) {
    return std::nullopt;
  }
  for (auto& argument : call.arguments) {
    std::string word; // 0x..., which >> of a number does not take
    if (!(file >> word)) {
      return std::nullopt; // blocked, but not in a system call: in a page fault
    }
    argument = std::stoul(word, nullptr, 16);
  }
  if (!is_still_asleep(process)) {
    return std::nullopt;
  }
  return call;
}

} // namespace

bool sleeps_in_poll(pid_t process) {
  const auto call = blocked_in(process);
  return call && is_sleep(*call);
}

bool sleeps_in_read(pid_t process) {
  const auto call = blocked_in(process);
  return call && reads(*call);
}

bool sleeps_for_a_mutex(pid_t process) {
  const auto call = blocked_in(process);
  return call && waits_for_a_mutex(*call);
}

bool sleeps_for_ever(pid_t process) {
  const auto call = blocked_in(process);
  return call && sleeps_until_woken(*call);
}

} // namespace gputest::tests
