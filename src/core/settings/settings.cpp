// SPDX-License-Identifier: BSD-3-Clause
#include "core/settings/settings.hpp"

#include "core/os/environment.hpp"
#include "core/os/mutex.hpp"
#include "core/os/process.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <mutex>
#include <sstream>
#include <string_view>
#include <utility>

namespace gputest::settings {

namespace {

constexpr int max_processes_per_device = 1024; // a user's slots in the ledger

std::string text_of(const ReadVariable& read, const char* name, const char* fallback) {
  const auto value = read(name);
  return value && !value->empty() ? *value : std::string{fallback};
}

/// The value of a setting that is a word, by the enumeration that lists its words in the order of the table.
template <class Value>
Value word_of(const ReadVariable& read, const char* name) {
  return static_cast<Value>(parse_word(name, text_of(read, name, "")));
}

std::optional<Bytes> size_of(const ReadVariable& read, const char* name) {
  const auto text = text_of(read, name, "");
  return text.empty() ? std::nullopt : std::optional{parse_bytes(text, name)};
}

/// What a test that declares nothing asks for at first.
Request estimated_request(const ReadVariable& read) {
  Request request;
  if (const auto learned = size_of(read, "GPUTEST_LEARNED")) {
    request = *learned;
  }
  request.memory_by = SaidBy::estimate;
  return request;
}

/// Slurm's own list of the job's devices: it counts if CUDA_VISIBLE_DEVICES was removed from the environment.
std::optional<DeviceRestriction> job_devices(const ReadVariable& read) {
  if (!read("SLURM_JOB_ID")) {
    return std::nullopt; // left over, or another tool's setting for other GPUs
  }
  for (const char* const name : {"GPU_DEVICE_ORDINAL", "SLURM_STEP_GPUS", "SLURM_JOB_GPUS"}) {
    if (const auto value = read(name); value && !value->empty()) {
      return DeviceRestriction{name, *value};
    }
  }
  return std::nullopt;
}

/// Empty if the user says nothing.
std::string chosen_log(const ReadVariable& read) {
  auto chosen = text_of(read, "GPUTEST_LOG", "");
  if (!chosen.empty() && chosen != "off" && chosen.front() != '/') {
    throw InvalidSetting{"GPUTEST_LOG='" + chosen +
                         "' is neither off nor an absolute path, and must be one: tests run in different folders. "
                         "Write the whole path of a folder"};
  }
  return chosen;
}

struct OfProcess {
  os::Mutex mutex;
  std::optional<Settings> settings;
};

/// Never destroyed: memory may be freed by a global variable's destructor.
OfProcess& process() {
  static auto& process = *new OfProcess; // NOLINT(cppcoreguidelines-owning-memory)
  return process;
}

} // namespace

DevicesSetting parse_devices(const std::string& text) {
  constexpr std::string_view simulated = "simulated:";
  if (text == "all") {
    return AllDevices{};
  }
  if (text == "none") {
    return NoDevices{};
  }
  const auto refuse = [&](const std::string& why) {
    return InvalidSetting{"GPUTEST_DEVICES='" + text + "' " + why +
                          "; it is all, none, or simulated:<n>x<size>[,<option>...], such as simulated:2x16GiB"};
  };
  if (text.compare(0, simulated.size(), simulated) != 0) {
    throw refuse("is unknown");
  }
  try {
    return policy::parse_simulated_devices(text.substr(simulated.size()));
  } catch (const InvalidSetting& error) {
    throw refuse("cannot be used: " + std::string{error.what()});
  }
}

void check_folder(const std::string& folder, const std::string& what) {
  if (!folder.empty() && folder.front() != '/') {
    throw InvalidSetting{what + "='" + folder +
                         "' is not an absolute path, and must be one: tests that run in different folders share a "
                         "ledger"};
  }
}

std::chrono::seconds parse_duration(const std::string& text, const std::string& what) {
  constexpr int max_seconds = 24 * 60 * 60;
  const auto digits = text.find_first_not_of("0123456789");
  const std::string unit = digits == std::string::npos ? "" : text.substr(digits);
  const int seconds_per_unit = unit == "s" ? 1 : unit == "min" ? 60 : unit == "h" ? 3600 : 0;
  if (seconds_per_unit == 0 || digits == 0) {
    throw InvalidSetting{what + "='" + text + "' is not a duration; write 90s, 20min or 1h"};
  }
  int count = 0;
  const auto result = std::from_chars(text.data(), text.data() + digits, count);
  if (result.ec != std::errc{} || count > max_seconds / seconds_per_unit) {
    throw InvalidSetting{what + "='" + text + "' is more than 24h, the longest that is accepted"};
  }
  return std::chrono::seconds{count * seconds_per_unit};
}

Settings parse_settings(const ReadVariable& read) {
  for (const auto& setting : settings_table()) { // also what only the tool and gputest-entry use: an error in tests too
    if (const auto text = text_of(read, setting.name, ""); !text.empty() && !words_of(setting).empty()) {
      static_cast<void>(parse_word(setting.name, text));
    }
  }
  Settings settings;
  settings.devices = text_of(read, "GPUTEST_DEVICES", "all");
  static_cast<void>(parse_devices(settings.devices));
  settings.device_memory = size_of(read, "GPUTEST_DEVICE_MEMORY");
  const auto processes = text_of(read, "GPUTEST_DEFAULT_PROCESSES_PER_DEVICE", "0");
  settings.processes_per_device = policy::parse_int(text_of(read, "GPUTEST_PROCESSES_PER_DEVICE", processes.c_str()), 0,
                                                    max_processes_per_device, "GPUTEST_PROCESSES_PER_DEVICE");
  settings.folder = text_of(read, "GPUTEST_DIR", "");
  check_folder(settings.folder, "GPUTEST_DIR");
  constexpr std::array<std::optional<MemoryKind>, 3> kinds{std::nullopt, MemoryKind::pool, MemoryKind::malloc};
  settings.memory_resource = kinds.at(word_of<std::size_t>(read, "GPUTEST_MEMORY_RESOURCE"));
  settings.run_mode = word_of<RunModeSetting>(read, "GPUTEST_RUN_MODE");
  settings.forbid_skip = word_of<ForbidSkip>(read, "GPUTEST_FORBID_SKIP");
  settings.require_gpu = word_of<int>(read, "GPUTEST_REQUIRE_GPU") != 0 || settings.forbid_skip != ForbidSkip::no;
  const char* const visible = "CUDA_VISIBLE_DEVICES";
  if (const auto value = read(visible)) { // empty is not the same as not set: it allows none
    settings.visible_devices = DeviceRestriction{visible, *value};
  }
  settings.job_devices = job_devices(read);
  settings.resource_group_count = read("CTEST_RESOURCE_GROUP_COUNT");
  for (const auto& name : variables_of_allocation(read)) {
    settings.resource_groups.push_back(*read(name.c_str()));
  }
  const auto above = text_of(read, "GPUTEST_ALLOCATION", "");
  const auto same = allocation_text(settings.resource_groups, {}); // else a ctest below has made another allocation
  if (!settings.resource_groups.empty() && policy::starts_with(above, same)) {
    settings.allocation_counts = policy::parts_of(above.substr(same.size()), ',');
  }
  settings.rank = policy::find_mpi_rank(read);
  settings.lease_of = text_of(read, "GPUTEST_LEASE_OF", lease_above);
  settings.meter = word_of<MeterSetting>(read, "GPUTEST_METER");
  settings.cuda_folder = text_of(read, "CUDA_HOME", text_of(read, "CUDA_PATH", "").c_str());
  settings.profiler = text_of(read, "CUDA_INJECTION64_PATH", "");
  settings.overuse = word_of<Consequence>(read, "GPUTEST_OVERUSE");
  settings.leaks = word_of<Consequence>(read, "GPUTEST_LEAKS");
  const auto log = chosen_log(read);
  settings.log = log.empty() ? text_of(read, "GPUTEST_DEFAULT_LOG", "") : log == "off" ? "" : log;
  return settings;
}

WorkerRequest parse_worker(const ReadVariable& read) {
  WorkerRequest request;
  request.channel = text_of(read, "GPUTEST_WORKER", "");
  std::istringstream list{text_of(read, "GPUTEST_CASES", "")};
  for (std::string filter; std::getline(list, filter, ';');) {
    if (!filter.empty()) {
      request.cases.push_back(filter);
    }
  }
  return request;
}

UsesGpu parse_uses_gpu(const ReadVariable& read) { return word_of<UsesGpu>(read, "GPUTEST_USES_GPU"); }

std::string parse_entry_name(const ReadVariable& read) { return text_of(read, "GPUTEST_TEST", ""); }

std::optional<policy::TimeLimit> parse_time_limit(const ReadVariable& read) {
  const auto text = text_of(read, "GPUTEST_TIMEOUT", "");
  auto limit = policy::parse_time_limit(text);
  if (!limit && !text.empty()) {
    throw InvalidSetting{
        "GPUTEST_TIMEOUT='" + text +
        "' is no time limit; it is a positive number of seconds such as 90 or 2.5, up to 999999999, and after "
        "it, if wanted, a signal that is sent first and the seconds until the kill: 90 SIGINT 2.5"};
  }
  return limit;
}

Request parse_memory(std::string_view text, std::string_view what) try {
  return parse_request(text, what);
} catch (const InvalidSetting& error) {
  throw InvalidSetting{std::string{error.what()} + ". It may also be auto or none"};
}

Entry parse_entry(const ReadVariable& read) {
  Entry entry;
  entry.name = parse_entry_name(read);
  const auto memory = text_of(read, "GPUTEST_MEMORY", "");
  const auto gpus = text_of(read, "GPUTEST_GPUS", "");
  entry.no_gpu_seen = memory == "unseen"; // set by listed_entries.cmake and schedule.cmake
  entry.no_gpu = memory == "none" || entry.no_gpu_seen || (memory.empty() && gpus == "0");
  if (entry.no_gpu ? !gpus.empty() && gpus != "0" : gpus == "0") {
    throw InvalidSetting{"GPUTEST_MEMORY='" + memory + "' and GPUTEST_GPUS='" + gpus +
                         "' contradict each other; a test that uses no GPU has none and 0"};
  }
  if (entry.no_gpu) {
    entry.request = estimated_request(read); // of a test that says it uses a GPU, and not how much
  } else {
    const bool alone = memory == "auto alone";
    entry.request =
        memory.empty() || memory == "auto" || alone ? estimated_request(read) : parse_memory(memory, "GPUTEST_MEMORY");
    entry.request.alone = entry.request.alone || alone;
    entry.request.gpus = gpus.empty() ? 1 : policy::parse_int(gpus, 0, max_gpus, "GPUTEST_GPUS");
  }
  entry.request.heap = size_of(read, "GPUTEST_HEAP").value_or(Bytes{});
  entry.request.keeps = size_of(read, "GPUTEST_KEEPS").value_or(Bytes{});
  entry.request.capabilities = parse_capabilities(text_of(read, "GPUTEST_REQUIRES", ""), "GPUTEST_REQUIRES");
  entry.large = parse_large_policy(text_of(read, "GPUTEST_LARGE", "exclude"), "GPUTEST_LARGE");
  if (const auto limit = text_of(read, "GPUTEST_WAIT_LIMIT", ""); !limit.empty()) {
    entry.wait_limit = parse_duration(limit, "GPUTEST_WAIT_LIMIT");
  }
  static_cast<void>(parse_time_limit(read)); // one that cannot be used is an error; the watcher uses it
  return entry;
}

std::optional<DeviceRestriction> restriction_of(const Settings& settings, std::size_t devices) {
  if (settings.visible_devices || !settings.job_devices) {
    return settings.visible_devices;
  }
  const auto& list = settings.job_devices->value;
  const auto named = static_cast<std::size_t>(std::count(list.begin(), list.end(), ',')) + 1;
  return named < devices ? settings.job_devices : std::nullopt;
}

std::vector<std::string> variables_of_allocation(const ReadVariable& read) {
  std::vector<std::string> names;
  const auto count = std::strtoul(text_of(read, "CTEST_RESOURCE_GROUP_COUNT", "0").c_str(), nullptr, 10);
  for (std::size_t i = 0; i < std::min(count, 4096UL); ++i) {
    for (const char* const type : {"GPUS", "CUDAGPU"}) {
      if (auto name = "CTEST_RESOURCE_GROUP_" + std::to_string(i) + "_" + type; read(name.c_str())) {
        names.push_back(std::move(name));
      }
    }
  }
  return names;
}

std::string allocation_text(const std::vector<std::string>& groups, const std::vector<std::string>& uuids) {
  return policy::joined(groups, "|") + " of " + policy::joined(uuids, ",");
}

std::optional<std::string> chosen_log_folder() {
  auto folder = chosen_log(os::read_variable);
  return folder.empty() || folder == "off" ? std::nullopt : std::optional{std::move(folder)};
}

std::optional<std::string> test_list_file() {
  const auto file = text_of(os::read_variable, "GPUTEST_LIST_FILE", "");
  return file.empty() ? std::nullopt : std::optional{file};
}

void forget_entry_above_ctest() {
  static const bool once = [] {
    const char* const depth = "GPUTEST_DEPTH"; // an entry of a ctest has another one than that ctest
    auto ctest = os::read_variable(depth) ? os::find_ctest() : std::nullopt;
    while (ctest && os::read_variable(depth) && os::read_variable(depth) == os::variable_of(ctest->pid, depth)) {
      const auto above = os::find_ctest_above(ctest->pid);
      if (!above || os::variable_of(above->pid, depth) != os::read_variable(depth)) { // an entry has started `ctest`
        for (const auto& setting : settings_table()) {
          const auto value = os::read_variable(setting.name);
          const std::string_view name = setting.name;
          const bool is_of_lease = name == "GPUTEST_LEASE_OF" || name == "GPUTEST_ALLOCATION";
          if (setting.by == SetBy::user || is_of_lease || !value ||
              value != os::variable_of(ctest->pid, setting.name)) {
            continue;
          }
          if (const auto before = above ? os::variable_of(above->pid, setting.name) : std::nullopt) {
            os::set_variable(setting.name, *before);
          } else {
            os::remove_variable(setting.name);
          }
        }
      }
      ctest = above;
    }
    return true;
  }();
  static_cast<void>(once);
}

Settings of_process() {
  {
    const std::lock_guard guard{process().mutex};
    if (process().settings) {
      return *process().settings;
    }
  }
  return settings_from_environment();
}

void set_for_process(const Settings& settings) {
  const std::lock_guard guard{process().mutex};
  process().settings = settings;
}

} // namespace gputest::settings

namespace gputest {

Settings settings_from_environment() {
  settings::forget_entry_above_ctest();
  settings::refuse_unknown_variables();
  return settings::parse_settings(os::read_variable);
}

Entry entry_from_environment() {
  settings::forget_entry_above_ctest();
  return settings::parse_entry(os::read_variable);
}

} // namespace gputest
