// SPDX-License-Identifier: BSD-3-Clause
#include "insights/run_log.hpp"

#include "core/runlog/run_log.hpp"

#include <gputest/error.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>
#include <utility>

namespace gputest::insights {

namespace {

using nlohmann::json;

/// Members of an object, with defaults for those that are missing or of another type.
class Members {
public:
  explicit Members(const json& object) : object_{object} {}

  [[nodiscard]] std::string text(const char* name) const {
    const auto* value = find(name, &json::is_string);
    return value != nullptr ? value->get<std::string>() : "";
  }
  [[nodiscard]] double seconds(const char* name) const {
    const auto* value = find(name, &json::is_number);
    const double seconds = value != nullptr ? value->get<double>() : 0;
    return std::isfinite(seconds) && std::abs(seconds) < 1e11 ? seconds : 0;
  }
  [[nodiscard]] std::optional<std::uint64_t> number(const char* name) const {
    const auto* value = find(name, &json::is_number_unsigned);
    return value != nullptr ? std::optional{value->get<std::uint64_t>()} : std::nullopt;
  }
  [[nodiscard]] bool flag(const char* name) const {
    const auto* value = find(name, &json::is_boolean);
    return value != nullptr && value->get<bool>();
  }
  [[nodiscard]] std::vector<std::string> texts(const char* name) const {
    return list<std::string>(name, &json::is_string);
  }
  [[nodiscard]] std::vector<json> objects(const char* name) const { return list<json>(name, &json::is_object); }

private:
  using Is = bool (json::*)() const noexcept;

  [[nodiscard]] const json* find(const char* name, Is is) const {
    const auto found = object_.find(name);
    return found != object_.end() && ((*found).*is)() ? &*found : nullptr;
  }
  template <typename Value>
  [[nodiscard]] std::vector<Value> list(const char* name, Is is) const {
    std::vector<Value> values;
    if (const auto* const array = find(name, &json::is_array)) {
      for (const auto& value : *array) {
        if ((value.*is)()) {
          values.push_back(value.get<Value>());
        }
      }
    }
    return values;
  }

  const json& object_;
};

class Reader {
public:
  void read(const json& object) {
    const Members event{object};
    const auto kind = event.text("event");
    const double t = event.seconds("t");
    if (kind.empty() || t <= 0) {
      ++log_.unreadable_lines;
      return;
    }
    ++log_.events;
    log_.begun = log_.events == 1 ? t : std::min(log_.begun, t);
    log_.ended = std::max(log_.ended, t);
    const auto pid = static_cast<std::int64_t>(event.number("pid").value_or(0) & 0x7FFFFFFFU);
    const auto entry = event.text("entry");
    const auto test = event.text("test");
    if (kind == "enter") {
      end_wait_to_enter(event, t, pid);
      if (!event.flag("under_a_lease")) {
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
      const auto failed = event.texts("failed");
      log_.failed.emplace(failed.begin(), failed.end());
    } else if (kind == "enter") {
      read_enter(event, t, pid, entry);
    } else if (kind == "wait") {
      read_wait(event, t, pid, entry, test);
    } else if (kind == "lease") {
      read_lease(event, t, pid, entry, test);
    } else if (kind == "release") {
      read_release(event, t, pid);
    } else if (kind == "test") {
      log_.tests.push_back({entry, test, event.text("result"), event.seconds("seconds"), event.text("reason"), t, pid,
                            event.text("file"), event.number("line").value_or(0)});
    } else if (kind == "skip") {
      log_.skips.push_back({entry, test, event.text("reason"), event.text("class")});
    } else if (kind == "end") {
      read_end(event, t, pid);
    } else if (kind == "grow") {
      if (const auto held = held_.find(pid); held != held_.end()) {
        log_.leases[held->second].bytes = event.number("bytes").value_or(0);
      }
    } else if (kind == "again") {
      log_.problems.push_back({entry, test, "ran again", event.text("text")});
    } else if (kind == "error" || kind == "out_of_memory" || kind == "leak" || kind == "overuse") {
      log_.problems.push_back({entry, test, kind, event.text(kind == "error" ? "error" : "text")});
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

  /// What the process has not ended itself, its last line ends.
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

  void read_run(const Members& event) {
    const auto version = event.number("version");
    if (version != runlog::run_log_version) {
      throw Error{"it is a log of version " + (version ? std::to_string(*version) : "none") +
                  ", and this gputest reads version " + std::to_string(runlog::run_log_version) +
                  ". Use the gputest that wrote it, or run the tests again"};
    }
    log_.host = event.text("host");
    log_.gputest = event.text("gputest");
    log_.run_mode = event.text("run_mode");
    log_.folder = event.text("folder");
    without_ctest_ = log_.folder.empty() && log_.run_mode.empty();
    log_.ctest_log = event.number("ctest_log").value_or(0);
    log_.jobs = event.number("jobs");
    log_.ctest_pid = event.number("ctest_pid").value_or(0) & 0x7FFFFFFFU;
    log_.ctest_start = event.number("ctest_start").value_or(0);
  }

  void read_enter(const Members& event, double t, std::int64_t pid, const std::string& entry) {
    LoggedProcess process;
    process.entry = entry;
    process.pid = pid;
    process.overhead_bytes = event.number("overhead_bytes").value_or(0);
    process.asked = t - event.seconds("waited");
    process.begun = t;
    process.under_a_lease = event.flag("under_a_lease");
    process.worker = event.flag("worker");
    process.why_started = event.text("started");
    process.program = event.text("program");
    for (const auto& object : event.objects("devices")) {
      const Members device{object};
      process.devices.push_back(device.text("uuid"));
      if (std::none_of(log_.devices.begin(), log_.devices.end(),
                       [&](const LoggedDevice& known) { return known.uuid == process.devices.back(); })) {
        log_.devices.push_back({device.text("uuid"), device.text("name"), device.number("bytes").value_or(0),
                                device.number("usable_bytes").value_or(0)});
      }
    }
    open_[pid].push_back(log_.processes.size());
    log_.processes.push_back(std::move(process));
  }

  void read_wait(const Members& event, double t, std::int64_t pid, const std::string& entry, const std::string& test) {
    LoggedWait wait{entry, test, pid, event.text("what"), t, 0, {}, event.flag("external")};
    wait.external_bytes = event.number("external_bytes").value_or(0);
    for (const char* const list : {"excesses", "blockers"}) {
      for (const auto& blocker : event.objects(list)) {
        const auto who = Members{blocker}.text("who");
        if (std::find(wait.blockers.begin(), wait.blockers.end(), who) == wait.blockers.end()) {
          wait.blockers.push_back(who);
        }
      }
    }
    waiting_[pid] = log_.waits.size();
    log_.waits.push_back(std::move(wait));
  }

  /// That of a process, which ends; nullptr: it has none.
  LoggedWait* end_wait(std::int64_t pid) {
    const auto found = waiting_.extract(pid);
    return found.empty() ? nullptr : &log_.waits[found.mapped()];
  }
  LoggedLease* end_lease(std::int64_t pid) {
    const auto found = held_.extract(pid);
    return found.empty() ? nullptr : &log_.leases[found.mapped()];
  }

  /// A wait that was noticed before the process asked is of an earlier process with its number.
  void end_wait_to_enter(const Members& event, double t, std::int64_t pid) {
    const auto waited = event.seconds("waited");
    if (auto* const wait = end_wait(pid); wait != nullptr && wait->noticed >= t - waited) {
      wait->waited = waited;
    }
  }

  void read_lease(const Members& event, double t, std::int64_t pid, const std::string& entry, const std::string& test) {
    LoggedLease lease;
    lease.entry = entry;
    lease.test = test;
    lease.pid = pid;
    lease.memory_class = event.text("class");
    lease.bytes = event.number("bytes").value_or(0);
    lease.whole_devices = event.flag("whole_devices");
    lease.devices = event.texts("devices");
    lease.asked = t - event.seconds("waited");
    lease.begun = t;
    lease.open_ended = true;
    if (auto* const wait = end_wait(pid)) {
      wait->waited = event.seconds("waited");
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

  void read_release(const Members& event, double t, std::int64_t pid) {
    auto* const lease = end_lease(pid);
    if (lease == nullptr) {
      return;
    }
    lease->ended = t;
    lease->open_ended = false;
    if (const auto evidence = event.text("evidence"); !evidence.empty()) {
      lease->evidence = evidence;
    }
    for (const auto& object : event.objects("devices")) {
      const Members device{object};
      if (const auto peak = device.number("peak_bytes"); peak && lease->evidence != "unknown") {
        const auto context =
            device.flag("with_context") ? lease->overhead_bytes : 0; // as the test's own message counts
        lease->peaks[device.text("uuid")] = *peak - std::min(*peak, context);
      }
    }
  }

  void read_end(const Members& event, double t, std::int64_t pid) {
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
      process.signal = static_cast<int>(event.number("signal").value_or(0) & 0x7FU);
      process.exit = static_cast<int>(event.number("exit").value_or(128 + process.signal) & 0xFFFFU);
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
