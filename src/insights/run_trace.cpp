// SPDX-License-Identifier: BSD-3-Clause
#include "insights/report_page.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace gputest::insights {

// A "process" of the trace is a device, or all workers; its "threads" are the lanes. Times are microseconds.
std::string trace_of(const RunLog& run) {
  using Json = nlohmann::ordered_json;
  const auto data = page_data(run);
  auto events = Json::array();
  const auto micros = [](const Json& item, const char* which) { return std::llround(item[which].get<double>() * 1e6); };
  const auto name = [&](const char* what, std::size_t process, std::int64_t lane, const std::string& text) {
    events.push_back({{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", lane}, {"args", {{"name", text}}}});
  };
  const auto add = [&](std::size_t process, std::int64_t lane, const Json& item, const Json& arguments) {
    const auto begun = micros(item, "t");
    events.push_back({{"ph", "X"},
                      {"name", item["n"]},
                      {"pid", process},
                      {"tid", lane},
                      {"ts", begun},
                      {"dur", std::max<std::int64_t>(0, micros(item, "e") - begun)},
                      {"args", arguments}});
  };
  std::size_t process = 0;
  for (const auto& device : data["devices"]) {
    const auto index = process++;
    name("process_name", process, 0,
         device["uuid"].get<std::string>() + " (" + device["name"].get<std::string>() + ")");
    std::vector<std::int64_t> free_from;          // by lane
    std::map<std::int64_t, std::int64_t> changes; // of the bytes leased, by time
    for (const auto& lease : data["leases"]) {    // in the order of their begins
      const auto place = std::find(lease["d"].begin(), lease["d"].end(), index);
      if (place == lease["d"].end()) {
        continue;
      }
      const auto begun = micros(lease, "t");
      auto lane = std::find_if(free_from.begin(), free_from.end(), [&](std::int64_t end) { return end <= begun; });
      lane = lane == free_from.end() ? free_from.insert(lane, 0) : lane;
      *lane = micros(lease, "e");
      changes[begun] += lease["b"].get<std::int64_t>();
      changes[*lane] -= lease["b"].get<std::int64_t>();
      Json arguments{{"bytes", lease["b"]}, {"waited_s", lease["w"]}};
      if (const auto& peak = lease["p"][static_cast<std::size_t>(place - lease["d"].begin())]; peak >= 0) {
        arguments.update({{"peak_bytes", peak}, {"evidence", lease["v"]}});
      }
      add(process, lane - free_from.begin() + 1, lease, arguments);
    }
    std::int64_t leased = 0;
    for (const auto& [at, change] : changes) {
      leased += change;
      events.push_back(
          {{"ph", "C"}, {"name", "leased MiB"}, {"pid", process}, {"ts", at}, {"args", {{"MiB", leased >> 20}}}});
    }
  }
  name("process_name", ++process, 0, "workers");
  for (const auto& worker : data["workers"]) {
    const auto pid = worker["p"].get<std::int64_t>();
    name("thread_name", process, pid, worker["n"].get<std::string>() + " " + std::to_string(pid));
    for (const auto& test : worker["c"]) {
      add(process, pid, test, {{"result", test["r"]}});
    }
  }
  const Json all{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
  return all.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace gputest::insights
