// SPDX-License-Identifier: BSD-3-Clause
#include "workers/process_snapshot.hpp"

#include "core/os/environment.hpp"
#include "core/os/file.hpp"
#include "core/os/process.hpp"
#include "core/os/user_folder.hpp"
#include "core/policy/text.hpp"

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <iterator>

#include <dirent.h>
#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

namespace gputest::workers {

namespace {

/// Rounding, traps and what becomes of denormal numbers, without the flags that each computation sets.
std::uint64_t floating_point_control() {
#if defined(__x86_64__)
  constexpr std::uint32_t flags = 0x3f;
  return __builtin_ia32_stmxcsr() & ~flags;
#elif defined(__aarch64__)
  std::uint64_t control = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  return control;
#else
  return 0;
#endif
}

std::string target_of(int folder, const char* link) {
  std::array<char, 4096> target{};
  const auto size = ::readlinkat(folder, link, target.data(), target.size());
  return {target.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

std::map<int, std::string> open_descriptors() {
  std::map<int, std::string> open;
  DIR* const folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) {
    return open;
  }
  while (const dirent* const entry = ::readdir(folder)) { // NOLINT(concurrency-mt-unsafe): a stream of its own
    const int number = static_cast<int>(std::strtol(entry->d_name, nullptr, 10));
    if (entry->d_name[0] == '.' || number == ::dirfd(folder)) {
      continue;
    }
    open[number] = target_of(::dirfd(folder), entry->d_name);
  }
  ::closedir(folder);
  return open;
}

std::vector<std::string> sorted_variables() {
  auto variables = os::environment();
  std::sort(variables.begin(), variables.end());
  return variables;
}

/// A set of signals in a thread's /proc/<pid>/status.
std::bitset<NSIG> signals_of(const std::string& status, const char* name) {
  return std::bitset<NSIG>{std::strtoull(os::field_of_status(status, name).c_str(), nullptr, 16)} << 1U;
}

/// Which alarms are set, each of which sends a signal by its own clock.
std::string alarms() {
  std::string set;
  for (const auto clock : {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF}) {
    itimerval alarm{};
    ::getitimer(clock, &alarm);
    set += alarm.it_value.tv_sec != 0 || alarm.it_value.tv_usec != 0 ? '1' : '0';
  }
  return set;
}

bool is_gputests_own(const std::string& assignment) {
  return policy::starts_with(assignment, "GPUTEST_") || policy::starts_with(assignment, "CUDA_VISIBLE_DEVICES=") ||
         policy::starts_with(assignment, "CTEST_RESOURCE_GROUP_");
}

template <class Value>
std::string bytes_of(const Value& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value}; // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
}

std::string change_of_variables(const ProcessSnapshot& before, const ProcessSnapshot& after) {
  std::vector<std::string> different;
  std::set_symmetric_difference(before.variables.begin(), before.variables.end(), after.variables.begin(),
                                after.variables.end(), std::back_inserter(different));
  const auto found = std::find_if_not(different.begin(), different.end(), is_gputests_own);
  return found == different.end() ? "" : "the environment variable " + found->substr(0, found->find('='));
}

std::string change_of_descriptors(const ProcessSnapshot& before, const ProcessSnapshot& after,
                                  const Unchecked& unchecked) {
  const auto counts = [&](const std::string& target) {
    return std::none_of(unchecked.folders.begin(), unchecked.folders.end(),
                        [&](const auto& folder) { return policy::starts_with(target, folder); });
  };
  const auto is_checked = [&](int number) { return !unchecked.files_and_threads || number <= STDERR_FILENO; };
  for (const auto& [number, target] : after.descriptors) {
    if (!is_checked(number)) {
      continue;
    }
    const auto was = before.descriptors.find(number);
    if (was != before.descriptors.end() && was->second != target) {
      return "descriptor " + std::to_string(number) + " is another file: " + target + " in place of " + was->second;
    }
    if (was == before.descriptors.end() && counts(target)) {
      return "descriptor " + std::to_string(number) + " (" + target + ") is open";
    }
  }
  for (const auto& [number, target] : before.descriptors) {
    if (is_checked(number) && after.descriptors.count(number) == 0 && counts(target)) {
      return "descriptor " + std::to_string(number) + " (" + target + ") is closed";
    }
  }
  return {};
}

} // namespace

ProcessSnapshot take_snapshot() {
  ProcessSnapshot state;
  state.descriptors = open_descriptors();
  const auto status = os::record_of_proc("/proc/thread-self/status").value_or("");
  state.threads = static_cast<int>(std::strtol(os::field_of_status(status, "Threads").c_str(), nullptr, 10));
  state.blocked = signals_of(status, "SigBlk"); // two files tell what 160 system calls would
  const auto ignored = signals_of(status, "SigIgn");
  const auto caught = signals_of(status, "SigCgt");
  for (int signal = 1; signal < NSIG; ++signal) {
    auto& action = state.actions.at(static_cast<std::size_t>(signal));
    if (const auto bit = static_cast<std::size_t>(signal); caught[bit]) {
      ::sigaction(signal, nullptr, &action);
    } else if (ignored[bit]) {
      action.sa_handler = SIG_IGN;
    }
  }
  state.variables = sorted_variables();

  const auto fields = [&](std::initializer_list<const char*> names) {
    std::string values;
    for (const char* const name : names) {
      values += os::field_of_status(status, name) + '\n';
    }
    return values;
  };

  std::array<char, 4096> folder{};
  static_cast<void>(::getcwd(folder.data(), folder.size()) == nullptr);
  state.timers = os::contents_of("/proc/self/timers").value_or("");
  state.facts = {
      {"the working directory", folder.data()},
      {"the umask", os::field_of_status(status, "Umask")},
      {"the user or group", fields({"Uid", "Gid", "Groups"})},
      {"its session or process group", fields({"NSsid", "NSpgid"})},
      {"its privileges", fields({"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp"})},
      {"the processors on which it may run", os::field_of_status(status, "Cpus_allowed")},
      {"a resource limit", os::record_of_proc("/proc/self/limits").value_or("")},
      {"an alarm", alarms()},
      {"the floating-point mode", bytes_of(floating_point_control())},
      {"the locale", std::setlocale(LC_ALL, nullptr)}, // NOLINT(concurrency-mt-unsafe): only asks
      {"the processes that it has started", bytes_of(os::has_children())}};
  return state;
}

void renew_what_is_given(ProcessSnapshot& state) {
  state.variables = sorted_variables();
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    state.descriptors[stream] = target_of(AT_FDCWD, ("/proc/self/fd/" + std::to_string(stream)).c_str());
  }
}

std::vector<std::string> folders_of_devices() {
  static const auto own = os::user_folder() + "/";
  return {"/dev/nvidia", "/proc/driver/nvidia", own, "/run/gputest/"};
}

std::string change_of_signals(const ProcessSnapshot& before, const ProcessSnapshot& after) {
  for (int signal = 1; signal < NSIG; ++signal) {
    const auto name = [&] { return std::string{"the signal "} + ::strsignal(signal); }; // NOLINT(concurrency-mt-unsafe)
    const auto bit = static_cast<std::size_t>(signal);
    if (before.blocked[bit] != after.blocked[bit]) {
      return name() + (after.blocked[bit] ? " is blocked" : " is no longer blocked");
    }
    if (before.actions.at(bit).sa_handler != after.actions.at(bit).sa_handler) {
      return name() + " has another handler";
    }
  }
  return {};
}

std::string change_between(const ProcessSnapshot& before, const ProcessSnapshot& after, const Unchecked& unchecked) {
  const auto [was, is] =
      std::mismatch(before.facts.begin(), before.facts.end(), after.facts.begin(), after.facts.end());
  if (was != before.facts.end()) {
    return was->first;
  }
  if (auto change = change_of_variables(before, after); !change.empty()) {
    return change;
  }
  if (auto change = change_of_signals(before, after); !change.empty()) {
    return change;
  }
  if (!unchecked.files_and_threads && after.timers != before.timers) {
    return "its timers";
  }
  if (!unchecked.files_and_threads && after.threads != before.threads) {
    return std::to_string(after.threads) + " threads run, and " + std::to_string(before.threads) + " ran before it";
  }
  return change_of_descriptors(before, after, unchecked);
}

} // namespace gputest::workers
