// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/process.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <string_view>
#include <system_error>

#include <pthread.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::os {

namespace {

/// Not 't': a tracer such as strace holds its process for a moment at each system call, and lets it continue by itself.
constexpr char stopped_by_signal = 'T';

std::string proc_file(pid_t pid, const char* name) { return "/proc/" + std::to_string(pid) + "/" + name; }

/// `state parent …` of `pid (name) state parent …`: the name may itself hold blanks and brackets, so from the last one.
std::string fields_after_name(pid_t pid) {
  const auto stat = contents_of(proc_file(pid, "stat")).value_or("");
  const std::size_t name_end = stat.rfind(") ");
  return name_end == std::string::npos ? "" : stat.substr(name_end + 2);
}

std::optional<std::uint64_t> start_time_in(const std::string& fields_after_name) {
  constexpr int position = 22 - 3; // among those after the name, of which the first is the third of all
  std::istringstream fields{fields_after_name};
  std::string field;
  for (int skipped = 0; skipped < position; ++skipped) {
    fields >> field;
  }
  std::uint64_t ticks = 0;
  return fields >> ticks ? std::optional{ticks} : std::nullopt;
}

bool has_other_threads(pid_t pid) {
  std::error_code error;
  const auto threads = std::filesystem::directory_iterator{proc_file(pid, "task"), error};
  return !error && std::distance(begin(threads), end(threads)) > 1;
}

std::vector<std::string> split_at_zeros(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    parts.emplace_back(text, begin, end - begin);
    begin = end + 1;
  }
  return parts;
}

std::optional<std::string> target_of_link(const std::string& path) {
  std::error_code error;
  const auto target = std::filesystem::read_symlink(path, error);
  if (error)
    return std::nullopt;
  return target.string();
}

} // namespace

pid_t own_pid() { return ::getpid(); }

std::uint64_t children_seen() {
  static std::atomic<std::uint64_t> seen{0};
  static const int watches_forks = ::pthread_atfork(
      nullptr, [] { ++seen; }, nullptr); // not what posix_spawn() starts
  static_cast<void>(watches_forks);
  siginfo_t unused{};
  if (::waitid(P_ALL, 0, &unused, WEXITED | WNOHANG | WNOWAIT) == 0) { // there are children
    ++seen;
  }
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  return seen + static_cast<std::uint64_t>(usage.ru_minflt); // a process cannot run without
}

bool exists(pid_t pid) { return pid > 0 && (::kill(pid, 0) == 0 || errno == EPERM); }

ProcessState state_of(pid_t pid) {
  const auto fields = fields_after_name(pid);
  switch (fields.empty() ? 'X' : fields.front()) {
  case stopped_by_signal:
    return ProcessState::stopped;
  case 'Z':
    return has_other_threads(pid) ? ProcessState::ending : ProcessState::ended;
  case 'X':
  case 'x':
    return ProcessState::ended;
  default:
    return ProcessState::running;
  }
}

bool is_stopped(pid_t pid, std::uint64_t start_time) {
  const auto fields = fields_after_name(pid);
  return !fields.empty() && fields.front() == stopped_by_signal && start_time_in(fields) == start_time;
}

std::optional<std::uint64_t> start_time_of(pid_t pid) { return start_time_in(fields_after_name(pid)); }

std::uint64_t pids_identity() {
  const auto start = contents_of("/proc/sys/kernel/random/boot_id");
  const auto space = target_of_link("/proc/self/ns/pid");
  return start && space ? std::hash<std::string>{}(*start + *space) : 0;
}

std::optional<pid_t> parent_of(pid_t pid) {
  const auto fields = fields_after_name(pid);
  const long parent = fields.size() < 2 ? 0 : std::strtol(fields.c_str() + 1, nullptr, 10);
  if (parent <= 0)
    return std::nullopt;
  return static_cast<pid_t>(parent);
}

std::vector<std::string> command_line_of(pid_t pid) {
  return split_at_zeros(contents_of(proc_file(pid, "cmdline")).value_or(""));
}

std::optional<std::map<std::string, std::string>> environment_of(pid_t pid) {
  const auto text = contents_of(proc_file(pid, "environ"));
  if (!text)
    return std::nullopt;
  std::map<std::string, std::string> variables;
  for (const std::string& entry : split_at_zeros(*text)) {
    const std::size_t equals = entry.find('=');
    // The first of two entries with one name is the one that getenv() finds; emplace() keeps it.
    if (equals != std::string::npos)
      variables.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return variables;
}

std::optional<std::string> executable_of(pid_t pid) {
  auto path = target_of_link(proc_file(pid, "exe"));
  constexpr std::string_view deleted = " (deleted)";
  if (path && path->size() > deleted.size() &&
      path->compare(path->size() - deleted.size(), deleted.size(), deleted) == 0)
    path->resize(path->size() - deleted.size());
  return path;
}

std::optional<std::uint64_t> executable_identity() {
  struct stat file {};
  if (::stat("/proc/self/exe", &file) != 0)
    return std::nullopt;
  std::string text;
  for (const auto part : {static_cast<std::int64_t>(file.st_dev), static_cast<std::int64_t>(file.st_ino),
                          static_cast<std::int64_t>(file.st_size), static_cast<std::int64_t>(file.st_mtim.tv_sec),
                          static_cast<std::int64_t>(file.st_mtim.tv_nsec)})
    text += std::to_string(part) + " ";
  return std::max<std::uint64_t>(std::hash<std::string>{}(text), 1);
}

std::optional<std::string> working_directory_of(pid_t pid) { return target_of_link(proc_file(pid, "cwd")); }

std::optional<std::string> contents_of(const std::string& path) {
  constexpr std::size_t limit = std::size_t{16} << 20U;
  std::ifstream file{path, std::ios::binary};
  if (!file)
    return std::nullopt;
  std::string text;
  std::array<char, 4096> block{};
  while (file.read(block.data(), block.size()) || file.gcount() > 0) {
    text.append(block.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > limit)
      return std::nullopt;
  }
  if (file.bad())
    return std::nullopt;
  return text;
}

} // namespace gputest::os
