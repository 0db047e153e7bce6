// SPDX-License-Identifier: BSD-3-Clause
#include "core/runlog/run_log.hpp"

#include "core/os/ctest_process.hpp"
#include "core/os/environment.hpp"
#include "core/os/file.hpp"
#include "core/os/host.hpp"
#include "core/os/mutex.hpp"
#include "core/os/process.hpp"
#include "core/os/test_status_page.hpp"
#include "core/policy/run_mode.hpp"
#include "core/policy/text.hpp"
#include "core/settings/settings.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <mutex>
#include <utility>

namespace gputest::runlog {

namespace {

void append_string(std::string& to, std::string_view text) {
  const auto is_special = [](char c) { return c < 0x20 || c >= 0x7f || c == '"' || c == '\\'; };
  to += '"';
  while (!text.empty()) {
    const auto plain = static_cast<std::size_t>(std::find_if(text.begin(), text.end(), is_special) - text.begin());
    const auto length = plain > 0 ? plain : policy::length_of_character(text);
    const char c = text.front();
    if (length == 0) {
      to += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      to += '\\';
      to += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      std::array<char, 8> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      to += escaped.data();
    } else {
      to += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  to += '"';
}

constexpr std::size_t kept_logs = 20;
constexpr const char* prefix = "run-";
constexpr const char* suffix = ".jsonl";

double now() { return std::chrono::duration<double>{std::chrono::system_clock::now().time_since_epoch()}.count(); }

/// Tells two starts of the machine apart, after which pids and ticks come again.
std::string boot() {
  const auto id = os::contents_of("/proc/sys/kernel/random/boot_id").value_or("");
  return id.substr(0, id.find_first_not_of("0123456789abcdef"));
}

std::string name_for(std::uint64_t start_time, pid_t pid) {
  return prefix + boot() + "-" + std::to_string(start_time) + "-" + std::to_string(pid) + suffix;
}

std::string program_name() {
  return std::filesystem::path{os::executable_of(os::own_pid()).value_or("")}.filename().string();
}

JsonObject line(const char* event, pid_t pid, const std::string& entry, const std::string& test) {
  JsonObject object;
  object.seconds("t", now()).number("pid", static_cast<std::uint64_t>(pid)).text("entry", entry);
  if (!test.empty()) {
    object.text("test", test);
  }
  object.text("event", event);
  return object;
}

JsonObject run_details(const std::optional<os::RunningCtest>& ctest) {
  JsonObject details;
  details.number("version", run_log_version).text("gputest", GPUTEST_VERSION).text("host", os::host_name());
  if (ctest) {
    const auto finding = policy::find_run_mode(os::look_for_ctest());
    details.number("ctest_pid", static_cast<std::uint64_t>(ctest->pid))
        .number("ctest_start", ctest->start_time)
        .text("folder", ctest->folder)
        .number("ctest_log", ctest->log)
        .text("run_mode", finding.because);
    if (finding.jobs) {
      details.number("jobs", *finding.jobs);
    }
  }
  return details;
}

/// Of this process.
struct Log {
  os::Mutex mutex;
  bool configured = false;
  bool opened = false;
  bool failed = false;
  std::string folder;
  std::string entry;
  std::string test;
  std::optional<os::LineFile> file;

  [[nodiscard]] std::string name_of_entry() const { return entry.empty() ? program_name() : entry; }

  /// Finds the file, and makes it if it is not there.
  void open() {
    if (!configured) {
      folder = settings::of_process().log;
      entry = settings::parse_entry_name(os::read_variable);
    }
    if (folder.empty()) {
      return;
    }
    const auto ctest = os::find_running_ctest();
    const bool absolute = folder.front() == '/';
    if (!absolute && !ctest) {
      return; // the folder is ctest's
    }
    const std::filesystem::path path{folder};
    const bool is_file = path.extension() == suffix; // of several processes that no ctest has started
    const auto own = os::own_pid();
    file.emplace(is_file    ? path.parent_path().string()
                 : absolute ? folder
                            : ctest->folder + "/" + folder,
                 ctest     ? name_for(ctest->start_time, ctest->pid)
                 : is_file ? path.filename().string()
                           : name_for(os::start_time_of(own).value_or(0), own));
    if (file->create()) {
      file->append(line("run", own, name_of_entry(), "").members(run_details(ctest)).to_string());
      file->remove_older(prefix, suffix, kept_logs);
    }
  }

  void write(const std::vector<Event>& events, const std::string& of_test) {
    if (failed) {
      return;
    }
    try {
      if (!opened) {
        open();
        opened = true; // not before: a process that is forked meanwhile opens it itself
      }
      std::string lines;
      const auto own = os::own_pid();
      for (const auto& event : events) {
        lines += (lines.empty() ? "" : "\n\n") +
                 line(event.name, own, name_of_entry(), of_test).members(event.details).to_string();
      }
      if (file) {
        file->append(lines);
      }
    } catch (const InvalidSetting&) {
      failed = true; // whoever needs the settings says it
    } catch (const std::exception& error) {
      failed = true;
      if (!os::has_notes(os::output_of_process())) {
        return;
      }
      const auto text = std::string{"gputest: the run log "} + error.what() +
                        ". Set GPUTEST_LOG to a folder that can be written to, or to off\n";
      std::fputs(text.c_str(), stderr);
    }
  }
};

Log& the_log() {
  static auto& log = *new Log; // NOLINT(cppcoreguidelines-owning-memory): used at exit, so never destroyed
  return log;
}

} // namespace

void JsonObject::begin(std::string_view name) {
  members_ += members_.empty() ? "" : ",";
  append_string(members_, name);
  members_ += ':';
}

JsonObject& JsonObject::text(std::string_view name, std::string_view value) {
  begin(name);
  append_string(members_, value);
  return *this;
}

JsonObject& JsonObject::number(std::string_view name, std::uint64_t value) {
  begin(name);
  members_ += std::to_string(value);
  return *this;
}

JsonObject& JsonObject::seconds(std::string_view name, double value) {
  begin(name);
  members_ += policy::fixed(std::isfinite(value) ? std::clamp(value, -1e12, 1e12) : 0.0, 6);
  return *this;
}

JsonObject& JsonObject::flag(std::string_view name, bool value) {
  begin(name);
  members_ += value ? "true" : "false";
  return *this;
}

JsonObject& JsonObject::texts(std::string_view name, const std::vector<std::string>& values) {
  begin(name);
  members_ += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    members_ += i == 0 ? "" : ",";
    append_string(members_, values[i]);
  }
  members_ += ']';
  return *this;
}

JsonObject& JsonObject::objects(std::string_view name, const std::vector<JsonObject>& values) {
  begin(name);
  members_ += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    members_ += (i == 0 ? "" : ",") + values[i].to_string();
  }
  members_ += ']';
  return *this;
}

JsonObject& JsonObject::members(const JsonObject& other) {
  members_ += (members_.empty() || other.members_.empty() ? "" : ",") + other.members_;
  return *this;
}

void configure(const std::string& folder, const std::string& entry) noexcept {
  auto& log = the_log();
  const std::lock_guard guard{log.mutex};
  if (!log.configured || log.folder != folder) {
    log.opened = false;
    log.file.reset();
  }
  log.configured = true;
  log.folder = folder;
  log.entry = entry;
}

void set_running(const std::string& test) noexcept {
  auto& log = the_log();
  const std::lock_guard guard{log.mutex};
  log.test = test;
}

void write(const std::vector<Event>& events, const std::optional<std::string>& test) noexcept {
  auto& log = the_log();
  if (log.mutex.is_of_this_thread()) {
    return; // a signal handler has interrupted a line, and ends the process
  }
  const std::lock_guard guard{log.mutex};
  log.write(events, test.value_or(log.test));
}

void write(const char* event, const JsonObject& details, const std::optional<std::string>& test) noexcept {
  write({{event, details}}, test);
}

} // namespace gputest::runlog
