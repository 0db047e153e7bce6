// SPDX-License-Identifier: BSD-3-Clause
#include "insights/report_page.hpp"

#include "insights/entry_runs.hpp"
#include "insights/run_summary.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace gputest::insights {

extern const char* const report_page_html; ///< report_page.html, in which `@DATA@` stands for the data

namespace {

using Json = nlohmann::ordered_json;

/// Rounded to 0.1 ms, which keeps the page small.
double rounded(double seconds) { return std::round(seconds * 1e4) / 1e4; }

class PageData {
public:
  PageData(const RunLog& run, const CtestLog& ctest) : run_{run}, ctest_{ctest} {
    for (std::size_t i = 0; i < run.devices.size(); ++i) {
      devices_[run.devices[i].uuid] = i;
    }
  }

  [[nodiscard]] Json data(const std::vector<RunLog>& history) const {
    Json data{{"begun", run_.begun},
              {"wall", run_.ended - run_.begun},
              {"host", run_.host},
              {"gputest", run_.gputest},
              {"folder", run_.folder},
              {"run_mode", run_.run_mode},
              {"remark", remark_on_results(run_)},
              {"unreadable", run_.unreadable_lines}};
    data["sums"] = sums(run_);
    data["held_back"] = what_held_it_back(run_);
    data["devices"] = Json::array();
    for (const auto& device : run_.devices) {
      data["devices"].push_back({{"uuid", device.uuid}, {"name", device.name}, {"bytes", device.bytes}});
    }
    data["leases"] = leases();
    data["contexts"] = contexts();
    data["waits"] = waits();
    data["workers"] = workers();
    add_tests(data);
    add_tables(data);
    data["history"] = Json::array();
    for (const auto& run : history) {
      auto row = sums(run);
      row["t"] = run.begun;
      row["jobs"] = run.jobs.value_or(0);
      data["history"].push_back(std::move(row));
    }
    return data;
  }

private:
  static Json sums(const RunLog& run) {
    const auto sums = summarise(run);
    return {{"tests", sums.tests},     {"passed", sums.passed},   {"failed", sums.failed}, {"skipped", sums.skipped},
            {"unknown", sums.unknown}, {"running", sums.running}, {"wall", sums.wall},     {"open", sums.open_ended},
            {"waited", sums.waited},   {"leased", sums.leased},   {"used", sums.used}};
  }

  /// Since the begin of the run.
  [[nodiscard]] double time(double t) const { return rounded(std::max(0.0, t - run_.begun)); }

  /// The places of these devices in the page's list.
  [[nodiscard]] Json places(const std::vector<std::string>& uuids) const {
    auto list = Json::array();
    for (const auto& uuid : uuids) {
      if (const auto device = devices_.find(uuid); device != devices_.end()) {
        list.push_back(device->second);
      }
    }
    return list;
  }

  [[nodiscard]] Json leases() const {
    auto list = Json::array();
    for (const auto& lease : run_.leases) {
      auto peaks = Json::array(); // of its devices
      for (const auto& uuid : lease.devices) {
        const auto peak = lease.peaks.find(uuid);
        if (devices_.count(uuid) != 0) {
          peaks.push_back(peak == lease.peaks.end() || lease.evidence == "unknown" ? Json(-1) : Json(peak->second));
        }
      }
      list.push_back({{"d", places(lease.devices)},
                      {"n", full_name(lease.entry, lease.test)},
                      {"t", time(lease.begun)},
                      {"e", time(lease.ended)},
                      {"b", lease.bytes},
                      {"p", peaks},
                      {"v", lease.evidence},
                      {"o", lease.open_ended && !lease.running},
                      {"w", rounded(lease.begun - lease.asked)}});
    }
    std::stable_sort(list.begin(), list.end(), [](const Json& a, const Json& b) { return a["t"] < b["t"]; });
    return list;
  }

  [[nodiscard]] Json contexts() const {
    auto list = Json::array();
    for (const auto& process : run_.processes) {
      if (!process.under_a_lease) {
        list.push_back({{"d", places(process.devices)},
                        {"t", time(process.begun)},
                        {"e", time(process.ended)},
                        {"b", process.overhead_bytes},
                        {"w", rounded(process.begun - process.asked)}});
      }
    }
    return list;
  }

  /// Those of a second or more, the longest first. `b` is what programs that are not on the ledger had of a device, as
  /// the waiting process saw it. What was waited for in vain (`v`) is in no lease and in no context.
  [[nodiscard]] Json waits() const {
    auto list = Json::array();
    for (const auto& wait : run_.waits) {
      const auto of = std::find_if(run_.processes.begin(), run_.processes.end(), [&](const LoggedProcess& process) {
        return process.pid == wait.pid && process.asked <= wait.noticed && wait.noticed <= process.ended;
      });
      auto because = wait.blockers;
      because.resize(std::min<std::size_t>(because.size(), 4));
      if (wait.external) {
        because.emplace_back("programs that are not on the ledger");
      }
      list.push_back({{"d", of == run_.processes.end() ? Json::array() : places(of->devices)},
                      {"n", full_name(wait.entry, wait.test)},
                      {"a", wait.what},
                      {"t", time(wait.noticed - 1)},
                      {"e", time(wait.noticed - 1 + std::max(wait.waited, 1.0))},
                      {"w", rounded(wait.waited)},
                      {"b", wait.external_bytes},
                      {"v", wait.in_vain},
                      {"c", because}});
    }
    std::stable_sort(list.begin(), list.end(), [](const Json& a, const Json& b) { return a["w"] > b["w"]; });
    return list;
  }

  /// The life of each worker, and what it ran.
  [[nodiscard]] Json workers() const {
    auto list = Json::array();
    for (const auto& process : run_.processes) {
      if (!process.worker) {
        continue;
      }
      auto cases = Json::array();
      const auto add = [&](std::int64_t pid, const std::string& entry, double begun, double ended, std::string result) {
        if (pid == process.pid && ended >= process.begun && begun <= process.ended) { // else another one had its pid
          cases.push_back({{"n", entry}, {"t", time(begun)}, {"e", time(ended)}, {"r", std::move(result)}});
        }
      };
      for (const auto& test : run_.tests) {
        add(test.pid, test.entry, test.ended - test.seconds, test.ended, test.result);
      }
      for (const auto& lease : run_.leases) {
        if (lease.open_ended) {
          add(lease.pid, lease.entry, lease.begun, lease.ended, lease.running ? "running" : "unknown");
        }
      }
      list.push_back({{"n", process.program.substr(process.program.rfind('/') + 1)},
                      {"p", process.pid},
                      {"b", process.why_started},
                      {"t", time(process.begun)},
                      {"e", time(process.ended)},
                      {"c", std::move(cases)}});
    }
    return list;
  }

  void add_tests(Json& data) const {
    std::map<std::pair<std::string, std::string>, const LoggedSkip*> skips;
    for (const auto& skip : run_.skips) {
      skips[{skip.entry, skip.test}] = skips[{skip.entry, ""}] = &skip;
    }
    /// Of an entry, or of one of its tests. `said` is the test's own reason to skip.
    const auto row_of = [&](const EntryRun& run, const std::string& entry, const std::string& test,
                            const std::string& result, double seconds, const std::string& said) {
      Json row{{"n", full_name(entry, test)}, {"r", result}, {"s", rounded(seconds)}};
      for (const auto* const lease : run.leases) {
        if (!test.empty() && lease->test != test) {
          continue;
        }
        if (lease->bytes >= row.value("b", std::uint64_t{0})) {
          row["b"] = lease->bytes;
          row["c"] = lease->memory_class;
        }
        for (const auto& [device, peak] : lease->peaks) {
          row["p"] = std::max(peak, row.value("p", std::uint64_t{0}));
        }
      }
      if (result == "skipped") {
        const auto logged = skips.find({entry, test});
        row["x"] = logged != skips.end() ? logged->second->reason : said;
        if (logged != skips.end() && logged->second->memory_class == "large") {
          row["c"] = "large"; // no lease says so
        }
      }
      return row;
    };
    data["log"] = ctest_.path;
    data["tests"] = data["failed"] = Json::array();
    const auto runs = entry_runs(run_);
    for (const auto& [entry, result, seconds, why] : results_of(run_)) {
      const auto found = runs.find(entry);
      const auto run = found != runs.end() ? found->second : EntryRun{};
      data["tests"].push_back(
          row_of(run, entry, "", result, seconds, run.tests.empty() ? "" : run.tests.front()->reason));
      data["tests"].back()["w"] = rounded(run.waited);
      if (result == "failed" || result == "unknown") { // what a person has to look at
        Json failed{{"n", entry}, {"w", why}, {"s", rounded(seconds)}};
        if (const auto output = ctest_.outputs.find(entry); output != ctest_.outputs.end()) {
          failed["l"] = output->second.line;
          failed["o"] = output->second.last_lines;
          failed["m"] = output->second.message;
        }
        data["failed"].push_back(std::move(failed));
      }
      for (const auto* const test : run.tests) {
        if (run.tests.size() > 1) {
          data["tests"].push_back(row_of(run, entry, test->test, test->result, test->seconds, test->reason));
        }
      }
    }
  }

  void add_tables(Json& data) const {
    data["problems"] = Json::array();
    for (const auto& problem : run_.problems) {
      data["problems"].push_back(
          {{"n", full_name(problem.entry, problem.test)}, {"k", problem.kind}, {"x", problem.text}});
    }
    data["skips"] = Json::array();
    for (auto& group : skips_of(run_)) {
      const auto count = group.tests.size();
      group.tests.resize(std::min<std::size_t>(count, 5));
      data["skips"].push_back({{"c", count}, {"r", group.reason}, {"n", group.tests}});
    }
    data["causes"] = Json::array();
    for (const auto& cause : causes_of_waits(run_)) {
      data["causes"].push_back({{"n", cause.name}, {"w", rounded(cause.seconds)}, {"c", cause.waits}});
    }
  }

  const RunLog& run_;
  const CtestLog& ctest_;
  std::map<std::string, std::size_t> devices_;
};

} // namespace

nlohmann::ordered_json page_data(const RunLog& run, const std::vector<RunLog>& history, const CtestLog& ctest) {
  return PageData{run, ctest}.data(history);
}

std::string report_page(const RunLog& run, const std::vector<RunLog>& history, const CtestLog& ctest) {
  std::string data;
  for (const char c : page_data(run, history, ctest).dump(-1, ' ', false, Json::error_handler_t::replace)) {
    data += c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : c == '&' ? "\\u0026" : std::string(1, c); // in strings only
  }
  std::string page = report_page_html;
  const std::string mark = "@DATA@";
  return page.replace(page.find(mark), mark.size(), data);
}

} // namespace gputest::insights
