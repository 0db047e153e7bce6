// SPDX-License-Identifier: BSD-3-Clause
#include "insights/report_page.hpp"

#include "insights/entry_results.hpp"
#include "insights/report_page_html.hpp"
#include "insights/run_summary.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace gputest::insights {

namespace {

using json = nlohmann::ordered_json;

/// Rounded to 0.1 ms, which keeps the page small.
double rounded(double seconds) { return static_cast<double>(static_cast<std::int64_t>(seconds * 1e4 + 0.5)) / 1e4; }

std::string text_of(const json& document) { return document.dump(-1, ' ', false, json::error_handler_t::replace); }

class PageData {
public:
  explicit PageData(const RunLog& run) : run_{run} {
    for (std::size_t i = 0; i < run.devices.size(); ++i) {
      devices_[run.devices[i].uuid] = i;
    }
  }

  [[nodiscard]] json data(const std::vector<const RunLog*>& history) const {
    json data{{"begun", run_.begun},
              {"wall", run_.ended - run_.begun},
              {"host", run_.host},
              {"gputest", run_.gputest},
              {"folder", run_.folder},
              {"run_mode", run_.run_mode},
              {"remark", remark_on_results(run_)},
              {"unreadable", run_.unreadable_lines}};
    data["sums"] = sums(run_);
    data["held_back"] = what_held_it_back(run_);
    data["devices"] = json::array();
    for (const auto& device : run_.devices) {
      data["devices"].push_back({{"uuid", device.uuid}, {"name", device.name}, {"bytes", device.bytes}});
    }
    data["leases"] = leases();
    data["contexts"] = contexts();
    data["waits"] = waits();
    add_tables(data);
    data["history"] = json::array();
    for (const auto* const run : history) {
      auto row = sums(*run);
      row["t"] = run->begun;
      row["now"] = run == &run_;
      row["jobs"] = run->jobs.value_or(0);
      data["history"].push_back(std::move(row));
    }
    return data;
  }

private:
  static json sums(const RunLog& run) {
    const auto sums = summarise(run);
    return {{"tests", sums.tests},     {"passed", sums.passed},   {"failed", sums.failed},
            {"skipped", sums.skipped}, {"unknown", sums.unknown}, {"wall", sums.wall},
            {"waited", sums.waited},   {"leased", sums.leased},   {"used", sums.used}};
  }

  /// Since the begin of the run.
  [[nodiscard]] double time(double t) const { return rounded(std::max(0.0, t - run_.begun)); }

  [[nodiscard]] json leases() const {
    auto list = json::array();
    for (const auto& lease : run_.leases) {
      for (const auto& uuid : lease.devices) {
        const auto device = devices_.find(uuid);
        if (device == devices_.end()) {
          continue;
        }
        std::int64_t peak = -1;
        for (const auto& use : lease.uses) {
          peak = use.device == uuid && lease.evidence != "unknown" ? static_cast<std::int64_t>(use.peak_bytes) : peak;
        }
        list.push_back({{"d", device->second},
                        {"n", full_name(lease.entry, lease.test)},
                        {"t", time(lease.begun)},
                        {"e", time(lease.ended)},
                        {"b", lease.bytes},
                        {"p", peak},
                        {"v", lease.evidence},
                        {"o", lease.open_ended},
                        {"w", rounded(lease.begun - lease.asked)}});
      }
    }
    return list;
  }

  [[nodiscard]] json contexts() const {
    auto list = json::array();
    for (const auto& process : run_.processes) {
      for (const auto& uuid : process.devices) {
        if (!process.under_a_lease) {
          list.push_back({{"d", devices_.at(uuid)},
                          {"t", time(process.begun)},
                          {"e", time(process.ended)},
                          {"b", process.overhead_bytes}});
        }
      }
    }
    return list;
  }

  [[nodiscard]] json waits() const {
    auto list = json::array();
    const auto add = [&](const std::vector<std::string>& uuids, double asked, double begun) {
      for (const auto& uuid : uuids) {
        const auto device = devices_.find(uuid);
        if (device != devices_.end() && begun - asked > 0.001) {
          list.push_back({{"d", device->second}, {"t", time(asked)}, {"e", time(begun)}});
        }
      }
    };
    for (const auto& process : run_.processes) {
      add(process.devices, process.asked, process.begun);
    }
    for (const auto& lease : run_.leases) {
      add(lease.devices, lease.asked, lease.begun);
    }
    return list;
  }

  void add_tables(json& data) const {
    data["failed"] = json::array();
    for (const auto& result : results_of(run_)) {
      if (result.result == "failed" || result.result == "unknown") {
        data["failed"].push_back({{"n", result.entry}, {"w", result.why}, {"s", result.seconds}});
      }
    }
    data["problems"] = json::array();
    for (const auto& problem : run_.problems) {
      data["problems"].push_back(
          {{"n", full_name(problem.entry, problem.test)}, {"k", problem.kind}, {"x", problem.text}});
    }
    data["skips"] = json::array();
    for (auto& group : skips_of(run_)) {
      const auto count = group.tests.size();
      group.tests.resize(std::min<std::size_t>(count, 5));
      data["skips"].push_back({{"c", count}, {"r", group.reason}, {"n", group.tests}});
    }
    auto slowest = run_.waits;
    std::stable_sort(slowest.begin(), slowest.end(),
                     [](const LoggedWait& a, const LoggedWait& b) { return a.waited > b.waited; });
    slowest.resize(std::min<std::size_t>(slowest.size(), 500));
    data["slowest"] = json::array();
    for (const auto& wait : slowest) {
      auto because = wait.blockers;
      because.resize(std::min<std::size_t>(because.size(), 4));
      if (wait.external) {
        because.emplace_back("programs that are not on the ledger");
      }
      data["slowest"].push_back(
          {{"n", full_name(wait.entry, wait.test)}, {"a", wait.what}, {"w", rounded(wait.waited)}, {"b", because}});
    }
    auto causes = causes_of_waits(run_);
    causes.resize(std::min<std::size_t>(causes.size(), 500));
    data["causes"] = json::array();
    for (const auto& cause : causes) {
      data["causes"].push_back({{"n", cause.name}, {"w", rounded(cause.seconds)}, {"c", cause.waits}});
    }
    data["measured"] = measured();
  }

  /// Those that are furthest from what they leased come first.
  [[nodiscard]] json measured() const {
    struct Row {
      std::uint64_t leased = 0;
      std::uint64_t peak = 0;
      std::string evidence;
    };
    std::map<std::string, Row> rows;
    for (const auto& lease : run_.leases) {
      for (const auto& use : lease.uses) {
        auto& row = rows[full_name(lease.entry, lease.test)];
        row.leased = std::max(row.leased, lease.bytes);
        row.peak = std::max(row.peak, use.peak_bytes);
        row.evidence = lease.evidence;
      }
    }
    std::vector<std::pair<std::string, Row>> sorted{rows.begin(), rows.end()};
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      const auto over = [](const Row& row) { return row.peak > row.leased; };
      const auto distance = [](const Row& row) {
        return row.peak > row.leased ? row.peak - row.leased : row.leased - row.peak;
      };
      return over(a.second) != over(b.second) ? over(a.second) : distance(a.second) > distance(b.second);
    });
    auto list = json::array();
    for (const auto& [name, row] : sorted) {
      list.push_back({{"n", name}, {"l", row.leased}, {"p", row.peak}, {"v", row.evidence}});
    }
    return list;
  }

  const RunLog& run_;
  std::map<std::string, std::size_t> devices_;
};

/// The places of ctest in which processes run one after another.
class Places {
public:
  std::size_t take(double begin, double end) {
    for (std::size_t i = 0; i < free_at_.size(); ++i) {
      if (free_at_[i] <= begin) {
        free_at_[i] = end;
        return i;
      }
    }
    free_at_.push_back(end);
    return free_at_.size() - 1;
  }

private:
  std::vector<double> free_at_;
};

} // namespace

std::string for_script_element(const std::string& json_text) {
  std::string text;
  text.reserve(json_text.size());
  for (const char c : json_text) { // these stand in strings only
    text += c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : c == '&' ? "\\u0026" : std::string(1, c);
  }
  return text;
}

std::string report_page(const RunLog& run, const std::vector<const RunLog*>& history) {
  std::string page = report_page_html;
  const std::string mark = "@DATA@";
  return page.replace(page.find(mark), mark.size(), for_script_element(text_of(PageData{run}.data(history))));
}

std::string trace_events(const RunLog& run) {
  const auto micros = [&](double t) { return std::max(0.0, t - run.begun) * 1e6; };
  auto events = json::array();
  const auto slice = [&](const std::string& name, const char* category, double begin, double end, std::size_t place,
                         json details) {
    events.push_back({{"name", name},
                      {"cat", category},
                      {"ph", "X"},
                      {"ts", micros(begin)},
                      {"dur", std::max(0.0, micros(end) - micros(begin))},
                      {"pid", 1},
                      {"tid", place + 1},
                      {"args", std::move(details)}});
  };
  auto processes = run.processes;
  std::stable_sort(processes.begin(), processes.end(),
                   [](const LoggedProcess& a, const LoggedProcess& b) { return a.asked < b.asked; });
  Places places;
  std::map<std::int64_t, std::size_t> place_of;
  std::size_t most = 0;
  for (const auto& process : processes) {
    if (process.under_a_lease) {
      continue;
    }
    const auto place = places.take(process.asked, process.ended);
    place_of[process.pid] = place;
    most = std::max(most, place + 1);
    slice(process.entry, "entry", process.asked, process.ended, place, {{"pid", process.pid}});
    if (process.begun > process.asked) {
      slice("waits for a device", "wait", process.asked, process.begun, place, json::object());
    }
  }
  for (const auto& lease : run.leases) {
    const auto place = place_of.find(lease.pid);
    if (place == place_of.end()) {
      continue;
    }
    if (lease.begun - lease.asked > 0.0005) {
      slice("waits for " + lease.request, "wait", lease.asked, lease.begun, place->second, json::object());
    }
    slice(lease.test.empty() ? lease.request : lease.test, "lease", lease.begun, lease.ended, place->second,
          {{"request", lease.request}, {"bytes", lease.bytes}, {"evidence", lease.evidence}});
  }
  events.push_back({{"name", "process_name"}, {"ph", "M"}, {"pid", 1}, {"args", {{"name", "ctest"}}}});
  for (std::size_t i = 0; i < most; ++i) {
    events.push_back({{"name", "thread_name"},
                      {"ph", "M"},
                      {"pid", 1},
                      {"tid", i + 1},
                      {"args", {{"name", "slot " + std::to_string(i + 1)}}}});
  }
  for (const auto& device : run.devices) {
    std::vector<std::pair<double, std::pair<double, double>>> changes; // leased, used
    constexpr double mib = 1024 * 1024;
    for (const auto& lease : run.leases) {
      if (std::find(lease.devices.begin(), lease.devices.end(), device.uuid) == lease.devices.end()) {
        continue;
      }
      double used = 0;
      for (const auto& use : lease.uses) {
        used += use.device == device.uuid ? static_cast<double>(use.peak_bytes) / mib : 0;
      }
      const double leased = static_cast<double>(lease.bytes) / mib;
      changes.push_back({lease.begun, {leased, used}});
      changes.push_back({lease.ended, {-leased, -used}});
    }
    std::stable_sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    double leased = 0;
    double used = 0;
    for (const auto& [t, change] : changes) {
      leased += change.first;
      used += change.second;
      events.push_back({{"name", "MiB of " + device.uuid},
                        {"ph", "C"},
                        {"ts", micros(t)},
                        {"pid", 1},
                        {"args", {{"leased", leased}, {"used at the peaks", used}}}});
    }
  }
  return text_of(json{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}}) + "\n";
}

} // namespace gputest::insights
