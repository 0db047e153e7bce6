// SPDX-License-Identifier: BSD-3-Clause
#include "insights/report_page.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <set>
#include <string>

namespace gputest::insights {
namespace {

using nlohmann::json;

LoggedLease lease(const std::string& entry, double begun, double ended) {
  LoggedLease lease;
  lease.entry = entry;
  lease.bytes = 3ULL << 30U;
  lease.devices = {"GPU-1"};
  lease.asked = lease.begun = begun;
  lease.ended = ended;
  lease.evidence = "exact";
  lease.peaks = {{"GPU-1", 7}};
  return lease;
}

TEST(RunTrace, has_leases_that_overlap_in_different_lanes_of_their_device_and_the_sum_of_their_bytes) {
  RunLog run;
  run.begun = 100;
  run.devices = {{"GPU-1", "H200", 0, 0}};
  run.leases = {lease("a", 101, 103), lease("b", 102, 104), lease("c", 103, 105)};
  std::map<std::string, json> events;
  std::int64_t most = 0;
  const auto trace = json::parse(trace_of(run));
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == "X") {
      events[event["name"]] = event;
    } else if (event["ph"] == "C") {
      most = std::max(most, event["args"]["MiB"].get<std::int64_t>());
    }
  }
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events["a"]["ts"], 1000000);
  EXPECT_EQ(events["a"]["dur"], 2000000);
  EXPECT_EQ(events["a"]["args"]["peak_bytes"], 7);
  EXPECT_NE(events["a"]["tid"], events["b"]["tid"]);
  EXPECT_EQ(events["a"]["tid"], events["c"]["tid"]);
  EXPECT_EQ(most, 6144);
}

TEST(RunTrace, has_a_lane_for_each_worker_with_its_cases) {
  RunLog run;
  run.begun = 100;
  LoggedProcess worker;
  worker.pid = 7;
  worker.worker = true;
  worker.program = "/b/sort_test";
  worker.begun = 101;
  worker.ended = 110;
  run.processes = {worker};
  run.tests = {{"Sort.a", "Sort.a", "passed", 2, "", 104, 7, ""}, {"later", "", "passed", 1, "", 120, 7, ""}};
  std::set<std::string> names;
  const auto trace = json::parse(trace_of(run));
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == "X") {
      names.insert(event["name"].get<std::string>());
      EXPECT_EQ(event["ts"], 2000000);
      EXPECT_EQ(event["tid"], 7);
    } else if (event["name"] == "thread_name") {
      EXPECT_EQ(event["args"]["name"], "sort_test 7");
    }
  }
  EXPECT_EQ(names, (std::set<std::string>{"Sort.a"}));
}

} // namespace
} // namespace gputest::insights
