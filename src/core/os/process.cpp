// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/process.hpp"

#include "core/os/file.hpp"
#include "core/policy/text.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::os {

namespace fs = std::filesystem;

namespace {

/// Not 't': a tracer such as strace holds its process for a moment at each system call, and lets it continue by itself.
constexpr char stopped_by_signal = 'T';

std::string proc_file(pid_t pid, const char* name) { return "/proc/" + std::to_string(pid) + "/" + name; }

/// `state parent …` of `pid (name) state parent …`: the name may itself hold blanks and brackets, so from the last one.
std::string fields_after_name(pid_t pid) {
  const auto stat = record_of_proc(proc_file(pid, "stat")).value_or("");
  const std::size_t name_end = stat.rfind(") ");
  return name_end == std::string::npos ? "" : stat.substr(name_end + 2);
}

std::optional<std::uint64_t> start_time_in(const std::string& fields_after_name) {
  std::size_t blank = 0;
  for (int field = 3; field < 22; ++field) { // the first after the name is the third of all, this one the 22nd
    blank = fields_after_name.find(' ', blank + 1);
    if (blank == std::string::npos) {
      return std::nullopt;
    }
  }
  return std::strtoull(fields_after_name.c_str() + blank, nullptr, 10);
}

bool has_other_threads(pid_t pid) {
  struct stat tasks {};
  return ::stat(proc_file(pid, "task").c_str(), &tasks) == 0 && tasks.st_nlink > 3; // `.`, `..` and one of each thread
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
  std::array<char, 4096> target{};
  const auto size = ::readlink(path.c_str(), target.data(), target.size());
  return size < 0 ? std::nullopt : std::optional{std::string{target.data(), static_cast<std::size_t>(size)}};
}

struct OfWorker {
  pid_t ctest = 0;
  std::string why_started;
};
OfWorker& of_worker() {
  static auto& of_worker = *new OfWorker; // NOLINT(cppcoreguidelines-owning-memory): used until the process ends
  return of_worker;
}

bool is_ctest(const std::string& path) { return path.substr(path.rfind('/') + 1) == "ctest"; }

} // namespace

pid_t own_pid() { return ::getpid(); }

std::uint64_t children_seen() {
  static std::atomic<std::uint64_t> seen{0};
  static const int watches_forks = ::pthread_atfork(
      nullptr, [] { ++seen; }, nullptr); // not what posix_spawn() starts
  static_cast<void>(watches_forks);
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  return seen + static_cast<std::uint64_t>(usage.ru_minflt); // a process cannot run without
}

bool has_children() {
  siginfo_t unused{};
  return ::waitid(P_ALL, 0, &unused, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
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

bool has_ended(pid_t pid, std::uint64_t start_time) {
  if (::kill(pid, 0) != 0) {
    return errno == ESRCH;
  }
  const auto fields = fields_after_name(pid);
  return !fields.empty() && fields.front() == 'Z' && start_time_in(fields) == start_time && !has_other_threads(pid);
}

std::optional<std::uint64_t> start_time_of(pid_t pid) { return start_time_in(fields_after_name(pid)); }

std::uint64_t pids_identity() {
  const auto start = contents_of("/proc/sys/kernel/random/boot_id");
  const auto space = target_of_link("/proc/self/ns/pid");
  return start && space ? policy::fnv1a(*start + *space) : 0;
}

std::optional<pid_t> parent_of(pid_t pid) {
  const auto fields = fields_after_name(pid);
  const long parent = fields.size() < 2 ? 0 : std::strtol(fields.c_str() + 1, nullptr, 10);
  return parent > 0 ? std::optional{static_cast<pid_t>(parent)} : std::nullopt;
}

std::vector<std::string> command_line_of(pid_t pid) {
  return split_at_zeros(record_of_proc(proc_file(pid, "cmdline")).value_or(""));
}

std::optional<std::string> variable_of(pid_t pid, const std::string& name) {
  for (const std::string& entry : split_at_zeros(contents_of(proc_file(pid, "environ")).value_or(""))) {
    if (entry.compare(0, name.size() + 1, name + "=") == 0) {
      return entry.substr(name.size() + 1); // the first of two with one name: that counts
    }
  }
  return std::nullopt;
}

std::optional<std::string> executable_of(pid_t pid) {
  auto path = target_of_link(proc_file(pid, "exe"));
  constexpr std::string_view deleted = " (deleted)";
  if (path && path->size() > deleted.size() &&
      path->compare(path->size() - deleted.size(), deleted.size(), deleted) == 0) {
    path->resize(path->size() - deleted.size());
  }
  return path;
}

std::string field_of_status(const std::string& status, const char* name) {
  const auto line = "\n" + std::string{name} + ":\t";
  const auto at = status.find(line);
  const auto value = at + line.size();
  return at == std::string::npos ? "" : status.substr(value, status.find('\n', value) - value);
}

bool is_traced(const std::string& status) {
  const auto tracer = field_of_status(status, "TracerPid");
  return !tracer.empty() && tracer != "0";
}

std::vector<pid_t> all_other_processes() {
  std::vector<pid_t> found;
  std::error_code error;
  for (fs::directory_iterator at{"/proc", error}, end; !error && at != end; at.increment(error)) {
    const auto pid = static_cast<pid_t>(std::strtol(at->path().filename().c_str(), nullptr, 10));
    if (pid > 0 && pid != own_pid()) {
      found.push_back(pid);
    }
  }
  return found;
}

std::optional<bool> has_open(pid_t pid, const std::vector<FileNumbers>& files) {
  std::error_code error;
  for (fs::directory_iterator at{proc_file(pid, "fd"), error}, end; !error && at != end; at.increment(error)) {
    struct stat status {};
    struct stat link {}; // its mode says how the file is open
    if (::lstat(at->path().c_str(), &link) == 0 && (link.st_mode & S_IWUSR) != 0 &&
        ::stat(at->path().c_str(), &status) == 0 &&
        std::find(files.begin(), files.end(), FileNumbers{status.st_dev, status.st_ino}) != files.end()) {
      return true;
    }
  }
  return error == std::errc::permission_denied ? std::nullopt : std::optional{false};
}

std::string name_of_process(pid_t pid) {
  const auto name = record_of_proc(proc_file(pid, "comm")).value_or("");
  return std::to_string(pid) + " (" + name.substr(0, name.find('\n')) + ")";
}

std::optional<std::string> working_directory_of(pid_t pid) { return target_of_link(proc_file(pid, "cwd")); }

namespace {

std::optional<pid_t> first_ancestor() {
  const pid_t pid = is_worker() ? of_worker().ctest : ::getppid();
  return pid > 0 ? std::optional{pid} : std::nullopt;
}

std::optional<CtestAncestor> nearest_ctest(std::optional<pid_t> pid) {
  for (; pid; pid = parent_of(*pid)) {
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

} // namespace

std::vector<Ancestor> ancestors() {
  std::vector<Ancestor> all;
  for (auto pid = std::optional{own_pid()}; pid; pid = *pid == own_pid() ? first_ancestor() : parent_of(*pid)) {
    struct stat process {};
    if (::stat(("/proc/" + std::to_string(*pid)).c_str(), &process) == 0) {
      all.push_back({*pid, start_time_of(*pid).value_or(0), process.st_uid});
    }
  }
  return all;
}

std::optional<CtestAncestor> find_ctest() { return nearest_ctest(first_ancestor()); }

std::optional<CtestAncestor> find_ctest_above(pid_t pid) { return nearest_ctest(parent_of(pid)); }

bool is_child_of_ctest() {
  const auto ctest = find_ctest();
  return ctest && ctest->pid == ::getppid();
}

bool is_command_of_ctest() {
  const auto runs_its_arguments = [](pid_t pid) {
    const auto command = command_line_of(pid);
    const auto name = command.empty() ? "" : command.front().substr(command.front().rfind('/') + 1);
    return name == "timeout" || name == "time" || name == "strace" ||
           (name == "cmake" && command.size() > 1 && command[1] == "-E");
  };
  const auto ctest = find_ctest();
  auto pid = std::optional{::getppid()};
  while (pid && runs_its_arguments(*pid)) {
    pid = parent_of(*pid);
  }
  return ctest && ctest->pid == pid;
}

/// It moves into a test's working directory while it starts that test, so its own is right only mostly: the log that it
/// keeps open says it. It may have inherited that of a ctest above it, which has a lower number.
std::optional<CtestPlace> ctest_place(pid_t ctest) {
  const std::string log = "/Testing/Temporary/LastTest";
  std::optional<CtestPlace> place;
  long highest = -1;
  std::error_code error;
  for (fs::directory_iterator file{"/proc/" + std::to_string(ctest) + "/fd", error}, end; !error && file != end;
       file.increment(error)) {
    std::error_code closed;
    const auto path = fs::read_symlink(file->path(), closed).string();
    const auto at = path.rfind(log);
    const long number = std::strtol(file->path().filename().c_str(), nullptr, 10);
    if (!closed && at != std::string::npos && at > 0 && number > highest) {
      highest = number;
      const auto stamp = stamp_of(file->path().string());
      place = CtestPlace{path.substr(0, at), stamp ? stamp->id : 0, file->path().string()};
    }
  }
  if (const auto folder = place ? std::nullopt : working_directory_of(ctest)) {
    place = CtestPlace{*folder, 0, ""};
  }
  return place;
}

void set_ctest_of_process(pid_t ctest, std::string why_started) { of_worker() = {ctest, std::move(why_started)}; }

bool is_worker() { return of_worker().ctest > 0; }

const std::string& why_worker_was_started() { return of_worker().why_started; }

} // namespace gputest::os
