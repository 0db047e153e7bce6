// SPDX-License-Identifier: BSD-3-Clause
#include "insights/run_trace.hpp"

#include "insights/entry_results.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace gputest::insights {

namespace {

using Json = nlohmann::ordered_json;

/// Events in microseconds since the begin of the run. A "process" of the trace is a device, or all workers; its
/// "threads" are the lanes.
class Trace {
public:
  explicit Trace(const RunLog& run) : run_{run} {}

  [[nodiscard]] std::string text() {
    int number = 0;
    for (const auto& device : run_.devices) {
      add_device(++number, device);
    }
    add_workers(++number);
    const Json all{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events_)}};
    return all.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

private:
  [[nodiscard]] std::int64_t time(double t) const { return std::llround(std::max(0.0, t - run_.begun) * 1e6); }

  void name(const char* what, int process, std::int64_t lane, const std::string& text) {
    events_.push_back({{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", lane}, {"args", {{"name", text}}}});
  }

  void add(int process, std::int64_t lane, const std::string& text, double begun, double ended, Json arguments) {
    events_.push_back({{"ph", "X"},
                       {"name", text},
                       {"pid", process},
                       {"tid", lane},
                       {"ts", time(begun)},
                       {"dur", std::max<std::int64_t>(0, time(ended) - time(begun))},
                       {"args", std::move(arguments)}});
  }

  void add_device(int process, const LoggedDevice& device) {
    name("process_name", process, 0, device.uuid + (device.name.empty() ? "" : " (" + device.name + ")"));
    std::vector<const LoggedLease*> leases;
    std::map<std::int64_t, std::int64_t> changes; // of the bytes leased, by time
    for (const auto& lease : run_.leases) {
      if (std::find(lease.devices.begin(), lease.devices.end(), device.uuid) != lease.devices.end()) {
        leases.push_back(&lease);
        changes[time(lease.begun)] += static_cast<std::int64_t>(lease.bytes);
        changes[time(lease.ended)] -= static_cast<std::int64_t>(lease.bytes);
      }
    }
    std::stable_sort(leases.begin(), leases.end(),
                     [](const LoggedLease* a, const LoggedLease* b) { return a->begun < b->begun; });
    std::vector<double> free_from; // by lane
    for (const auto* const lease : leases) {
      auto lane = std::find_if(free_from.begin(), free_from.end(), [&](double end) { return end <= lease->begun; });
      if (lane == free_from.end()) {
        lane = free_from.insert(lane, 0);
      }
      *lane = lease->ended;
      Json arguments{{"lease", lease->request},
                     {"bytes", lease->bytes},
                     {"waited_s", lease->begun - lease->asked},
                     {"pid", lease->pid}};
      for (const auto& use : lease->uses) {
        if (use.device == device.uuid && lease->evidence != "unknown") {
          arguments["peak_bytes"] = use.peak_bytes;
          arguments["evidence"] = lease->evidence;
        }
      }
      add(process, lane - free_from.begin() + 1, full_name(lease->entry, lease->test), lease->begun, lease->ended,
          std::move(arguments));
    }
    std::int64_t leased = 0;
    for (const auto& [at, change] : changes) {
      leased += change;
      events_.push_back(
          {{"ph", "C"}, {"name", "leased MiB"}, {"pid", process}, {"ts", at}, {"args", {{"MiB", leased >> 20}}}});
    }
  }

  void add_workers(int process) {
    bool any = false;
    for (const auto& worker : run_.processes) {
      if (!worker.worker) {
        continue;
      }
      if (!any) {
        name("process_name", process, 0, "workers");
        any = true;
      }
      name("thread_name", process, worker.pid,
           worker.program.substr(worker.program.rfind('/') + 1) + " " + std::to_string(worker.pid));
      for (const auto& test : run_.tests) {
        if (test.pid == worker.pid && test.ended >= worker.begun && test.ended <= worker.ended) {
          add(process, worker.pid, full_name(test.entry, test.test), test.ended - test.seconds, test.ended,
              {{"result", test.result}});
        }
      }
    }
  }

  const RunLog& run_;
  Json events_ = Json::array();
};

} // namespace

std::string trace_of(const RunLog& run) { return Trace{run}.text(); }

} // namespace gputest::insights
