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

using Json = nlohmann::ordered_json;

/// Rounded to 0.1 ms, which keeps the page small.
double rounded(double seconds) { return static_cast<double>(static_cast<std::int64_t>(seconds * 1e4 + 0.5)) / 1e4; }

std::string text_of(const Json& document) { return document.dump(-1, ' ', false, Json::error_handler_t::replace); }

class PageData {
public:
  explicit PageData(const RunLog& run) : run_{run} {
    for (std::size_t i = 0; i < run.devices.size(); ++i) {
      devices_[run.devices[i].uuid] = i;
    }
  }

  [[nodiscard]] Json data(const std::vector<const RunLog*>& history) const {
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
    add_tables(data);
    data["history"] = Json::array();
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
  static Json sums(const RunLog& run) {
    const auto sums = summarise(run);
    Json row{{"tests", sums.tests},     {"passed", sums.passed},   {"failed", sums.failed},
             {"skipped", sums.skipped}, {"unknown", sums.unknown}, {"wall", sums.wall},
             {"waited", sums.waited},   {"leased", sums.leased},   {"used", sums.used}};
    if (sums.open_ended) {
      row["open"] = true;
    }
    return row;
  }

  /// Since the begin of the run.
  [[nodiscard]] double time(double t) const { return rounded(std::max(0.0, t - run_.begun)); }

  [[nodiscard]] Json leases() const {
    auto list = Json::array();
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

  [[nodiscard]] Json contexts() const {
    auto list = Json::array();
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

  [[nodiscard]] Json waits() const {
    auto list = Json::array();
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

  void add_tables(Json& data) const {
    data["failed"] = Json::array();
    for (const auto& result : results_of(run_)) {
      if (result.result == "failed" || result.result == "unknown") {
        data["failed"].push_back({{"n", result.entry}, {"w", result.why}, {"s", result.seconds}});
      }
    }
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
    auto slowest = run_.waits;
    std::stable_sort(slowest.begin(), slowest.end(),
                     [](const LoggedWait& a, const LoggedWait& b) { return a.waited > b.waited; });
    slowest.resize(std::min<std::size_t>(slowest.size(), 500));
    data["slowest"] = Json::array();
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
    data["causes"] = Json::array();
    for (const auto& cause : causes) {
      data["causes"].push_back({{"n", cause.name}, {"w", rounded(cause.seconds)}, {"c", cause.waits}});
    }
  }

  const RunLog& run_;
  std::map<std::string, std::size_t> devices_;
};

/// Text as JSON that can stand in a script element of HTML.
std::string for_script_element(const std::string& json_text) {
  std::string text;
  text.reserve(json_text.size());
  for (const char c : json_text) { // these stand in strings only
    text += c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : c == '&' ? "\\u0026" : std::string(1, c);
  }
  return text;
}

} // namespace

std::string report_page(const RunLog& run, const std::vector<const RunLog*>& history) {
  std::string page = report_page_html;
  const std::string mark = "@DATA@";
  return page.replace(page.find(mark), mark.size(), for_script_element(text_of(PageData{run}.data(history))));
}

} // namespace gputest::insights
