// SPDX-License-Identifier: BSD-3-Clause
#include "insights/run_log.hpp"

#include "core/runlog/run_log.hpp"

#include <gputest/error.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

namespace gputest::insights {

namespace {

using nlohmann::json;

// Members of an object. What is missing, or of another type, reads as a default.

const json& member(const json& object, const char* name) {
  static const json none;
  const auto found = object.find(name);
  return found != object.end() ? *found : none;
}

std::string text_in(const json& object, const char* name) {
  const auto& value = member(object, name);
  return value.is_string() ? value.get<std::string>() : "";
}

double seconds_in(const json& object, const char* name) {
  const auto& value = member(object, name);
  const double seconds = value.is_number() ? value.get<double>() : 0;
  return std::isfinite(seconds) && std::abs(seconds) < 1e11 ? seconds : 0;
}

std::optional<std::uint64_t> number_in(const json& object, const char* name) {
  const auto& value = member(object, name);
  return value.is_number_unsigned() ? std::optional{value.get<std::uint64_t>()} : std::nullopt;
}

bool flag_in(const json& object, const char* name) { return member(object, name) == true; }

json list_in(const json& object, const char* name, bool (json::*is)() const noexcept) {
  auto values = json::array();
  if (const auto& list = member(object, name); list.is_array()) {
    std::copy_if(list.begin(), list.end(), std::back_inserter(values),
                 [&](const json& value) { return (value.*is)(); });
  }
  return values;
}

class Reader {
public:
  void read(const json& event) {
    const auto kind = text_in(event, "event");
    const double t = seconds_in(event, "t");
    const auto result = text_in(event, "result");
    const bool is_result = result == "passed" || result == "failed" || result == "skipped";
    if (kind.empty() || t <= 0 || (kind == "test" && !is_result)) {
      ++log_.unreadable_lines;
      return;
    }
    ++log_.events;
    log_.begun = log_.events == 1 ? t : std::min(log_.begun, t);
    log_.ended = std::max(log_.ended, t);
    const auto pid = static_cast<std::int64_t>(number_in(event, "pid").value_or(0) & 0x7FFFFFFFU);
    const auto entry = text_in(event, "entry");
    const auto test = text_in(event, "test");
    if (kind == "enter") {
      end_wait_to_enter(event, t, pid);
      if (!flag_in(event, "under_a_lease")) {
        forget(pid); // an earlier process with this number
      }
    }
    auto& last = last_sign_[pid];
    last = std::max(last, t);
    if (kind == "test" || kind == "skip" || kind == "end") {
      if (auto* const wait = end_wait(pid)) {
        wait->waited = std::max(0.0, t - wait->noticed) + 1;
        wait->in_vain = true;
      }
    }
    if (kind == "run") {
      read_run(event);
    } else if (kind == "merge") {
      log_.failed = list_in(event, "failed", &json::is_string).get<std::set<std::string>>();
    } else if (kind == "enter") {
      read_enter(event, t, pid, entry);
    } else if (kind == "wait") {
      read_wait(event, t, pid, entry, test);
    } else if (kind == "lease") {
      read_lease(event, t, pid, entry, test);
    } else if (kind == "release") {
      read_release(event, t, pid);
    } else if (kind == "test") {
      log_.tests.push_back({entry, test, result, seconds_in(event, "seconds"), text_in(event, "reason"), t, pid,
                            text_in(event, "file"), number_in(event, "line").value_or(0)});
    } else if (kind == "skip") {
      log_.skips.push_back({entry, test, text_in(event, "reason"), text_in(event, "class")});
    } else if (kind == "end") {
      read_end(event, t, pid);
    } else if (kind == "grow") {
      if (const auto held = held_.find(pid); held != held_.end()) {
        log_.leases[held->second].bytes = number_in(event, "bytes").value_or(0);
      }
    } else if (kind == "again") {
      log_.problems.push_back({entry, test, "ran again", text_in(event, "text")});
    } else if (kind == "error" || kind == "out_of_memory" || kind == "leak" || kind == "overuse") {
      log_.problems.push_back({entry, test, kind, text_in(event, kind == "error" ? "error" : "text")});
    }
  }

  RunLog finish(std::size_t unreadable) {
    log_.unreadable_lines += unreadable;
    while (!last_sign_.empty()) {
      forget(last_sign_.begin()->first);
    }
    if (without_ctest_ && !log_.failed) {
      make_entries_of_tests();
    }
    return std::move(log_);
  }

private:
  /// Without ctest nobody has named entries: each test is one, and a process such as a session of pytest ran several.
  /// The lease of a fixture, which is no test's, belongs to none.
  void make_entries_of_tests() {
    std::set<std::string> names;
    std::set<std::int64_t> pids;
    for (auto& test : log_.tests) {
      test.entry = test.test;
      names.insert(test.test);
      pids.insert(test.pid);
    }
    for (const auto& lease : log_.leases) {
      if (lease.open_ended && !lease.test.empty()) { // its test has no line
        names.insert(lease.test);
        pids.insert(lease.pid);
      }
    }
    for (auto& process : log_.processes) {
      if (pids.count(process.pid) != 0) {
        process.worker = true;
        process.why_started = "without ctest";
      }
    }
    for (auto& lease : log_.leases) {
      lease.entry = names.count(lease.test) != 0 ? lease.test : pids.count(lease.pid) != 0 ? "" : lease.entry;
    }
    const auto rename = [&](auto& list) {
      for (auto& one : list) {
        one.entry = names.count(one.test) != 0 ? one.test : one.entry;
      }
    };
    rename(log_.skips);
    rename(log_.waits);
    rename(log_.problems);
  }

  /// Ends, at the time of the process's last line, what it has not ended itself.
  void forget(std::int64_t pid) {
    const double last = last_sign_[pid];
    if (auto* const lease = end_lease(pid)) {
      lease->ended = std::max(lease->begun, last);
    }
    for (const auto position : open_[pid]) {
      auto& process = log_.processes[position];
      process.ended = std::max(process.begun, last);
    }
    open_.erase(pid);
    waiting_.erase(pid);
    last_sign_.erase(pid);
  }

  void read_run(const json& event) {
    const auto version = number_in(event, "version");
    if (version != runlog::run_log_version) {
      throw Error{"it is a log of version " + (version ? std::to_string(*version) : "none") +
                  ", and this gputest reads version " + std::to_string(runlog::run_log_version) +
                  ". Use the gputest that wrote it, or run the tests again"};
    }
    log_.host = text_in(event, "host");
    log_.gputest = text_in(event, "gputest");
    log_.run_mode = text_in(event, "run_mode");
    log_.folder = text_in(event, "folder");
    without_ctest_ = log_.folder.empty() && log_.run_mode.empty();
    log_.ctest_log = number_in(event, "ctest_log").value_or(0);
    log_.jobs = number_in(event, "jobs");
    log_.ctest_pid = number_in(event, "ctest_pid").value_or(0) & 0x7FFFFFFFU;
    log_.ctest_start = number_in(event, "ctest_start").value_or(0);
  }

  void read_enter(const json& event, double t, std::int64_t pid, const std::string& entry) {
    LoggedProcess process;
    process.entry = entry;
    process.pid = pid;
    process.overhead_bytes = number_in(event, "overhead_bytes").value_or(0);
    process.asked = t - seconds_in(event, "waited");
    process.begun = t;
    process.under_a_lease = flag_in(event, "under_a_lease");
    process.worker = flag_in(event, "worker");
    process.why_started = text_in(event, "started");
    process.program = text_in(event, "program");
    for (const auto& device : list_in(event, "devices", &json::is_object)) {
      process.devices.push_back(text_in(device, "uuid"));
      if (std::none_of(log_.devices.begin(), log_.devices.end(),
                       [&](const LoggedDevice& known) { return known.uuid == process.devices.back(); })) {
        log_.devices.push_back({text_in(device, "uuid"), text_in(device, "name"),
                                number_in(device, "bytes").value_or(0), number_in(device, "usable_bytes").value_or(0)});
      }
    }
    open_[pid].push_back(log_.processes.size());
    log_.processes.push_back(std::move(process));
  }

  void read_wait(const json& event, double t, std::int64_t pid, const std::string& entry, const std::string& test) {
    LoggedWait wait{entry, test, pid, text_in(event, "what"), t, 0, {}, flag_in(event, "external")};
    wait.external_bytes = number_in(event, "external_bytes").value_or(0);
    for (const char* const list : {"excesses", "blockers"}) {
      for (const auto& blocker : list_in(event, list, &json::is_object)) {
        const auto who = text_in(blocker, "who");
        if (std::find(wait.blockers.begin(), wait.blockers.end(), who) == wait.blockers.end()) {
          wait.blockers.push_back(who);
        }
      }
    }
    waiting_[pid] = log_.waits.size();
    log_.waits.push_back(std::move(wait));
  }

  /// The wait or the lease of a process, which ends now; nullptr: it has none.
  LoggedWait* end_wait(std::int64_t pid) {
    const auto found = waiting_.extract(pid);
    return found.empty() ? nullptr : &log_.waits[found.mapped()];
  }
  LoggedLease* end_lease(std::int64_t pid) {
    const auto found = held_.extract(pid);
    return found.empty() ? nullptr : &log_.leases[found.mapped()];
  }

  /// A wait that was noticed before the process asked is of an earlier process with its number.
  void end_wait_to_enter(const json& event, double t, std::int64_t pid) {
    const auto waited = seconds_in(event, "waited");
    if (auto* const wait = end_wait(pid); wait != nullptr && wait->noticed >= t - waited) {
      wait->waited = waited;
    }
  }

  void read_lease(const json& event, double t, std::int64_t pid, const std::string& entry, const std::string& test) {
    LoggedLease lease;
    lease.entry = entry;
    lease.test = test;
    lease.pid = pid;
    lease.memory_class = text_in(event, "class");
    lease.bytes = number_in(event, "bytes").value_or(0);
    lease.whole_devices = flag_in(event, "whole_devices");
    lease.devices = list_in(event, "devices", &json::is_string).get<std::vector<std::string>>();
    lease.asked = t - seconds_in(event, "waited");
    lease.begun = t;
    lease.open_ended = true;
    if (auto* const wait = end_wait(pid)) {
      wait->waited = seconds_in(event, "waited");
    }
    if (const auto open = open_.find(pid); open != open_.end() && !open->second.empty()) {
      const auto& process = log_.processes[open->second.front()]; // that leases, and no program that it became
      lease.overhead_bytes = process.overhead_bytes;
    }
    for (const auto& device : log_.devices) {
      if (lease.whole_devices && std::count(lease.devices.begin(), lease.devices.end(), device.uuid) != 0) {
        const auto usable = device.usable_bytes > 0 ? device.usable_bytes : device.bytes;
        lease.bytes = std::max(lease.bytes, usable - std::min(usable, lease.overhead_bytes));
      }
    }
    held_[pid] = log_.leases.size();
    log_.leases.push_back(std::move(lease));
  }

  void read_release(const json& event, double t, std::int64_t pid) {
    auto* const lease = end_lease(pid);
    if (lease == nullptr) {
      return;
    }
    lease->ended = t;
    lease->open_ended = false;
    if (const auto evidence = text_in(event, "evidence"); !evidence.empty()) {
      lease->evidence = evidence;
    }
    for (const auto& device : list_in(event, "devices", &json::is_object)) {
      if (const auto peak = number_in(device, "peak_bytes"); peak && lease->evidence != "unknown") {
        const auto context =
            flag_in(device, "with_context") ? lease->overhead_bytes : 0; // as the test's own message counts
        lease->peaks[text_in(device, "uuid")] = *peak - std::min(*peak, context);
      }
    }
  }

  void read_end(const json& event, double t, std::int64_t pid) {
    if (auto* const lease = end_lease(pid)) {
      lease->ended = t;
      lease->open_ended = false;
    }
    auto& open = open_[pid];
    if (!open.empty()) {
      auto& process = log_.processes[open.back()];
      open.pop_back();
      process.ended = t;
      process.open_ended = false;
      process.signal = static_cast<int>(number_in(event, "signal").value_or(0) & 0x7FU);
      process.exit = static_cast<int>(number_in(event, "exit").value_or(128 + process.signal) & 0xFFFFU);
    }
  }

  RunLog log_;
  bool without_ctest_ = false;
  std::map<std::int64_t, double> last_sign_;
  std::map<std::int64_t, std::vector<std::size_t>> open_; ///< what has entered and not ended, by pid
  std::map<std::int64_t, std::size_t> held_;              ///< the lease of a process
  std::map<std::int64_t, std::size_t> waiting_;           ///< its wait
};

} // namespace

RunLog parse_run_log(const std::string& text) {
  Reader reader;
  std::size_t unreadable = 0;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    if (const auto object = json::parse(line, nullptr, false); object.is_object()) {
      reader.read(object);
    } else {
      unreadable += line.empty() ? 0 : 1;
    }
  }
  return reader.finish(unreadable);
}

} // namespace gputest::insights
