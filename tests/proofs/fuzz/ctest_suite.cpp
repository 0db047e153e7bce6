// SPDX-License-Identifier: BSD-3-Clause
// What `ctest --show-only=json-v1` prints. An input is such a document; what is read of it is planned and split.

#include "insights/ctest_suite.hpp"
#include "insights/shards.hpp"
#include "proofs/fuzz/fuzzer.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <cmath>

using namespace gputest;
using tests::require;

namespace {

/// Two devices, on which some tests wait for others.
insights::PlannedMachine machine() {
  using namespace literals;
  insights::PlannedMachine machine;
  for (const char* const uuid : {"SIM-0", "SIM-1"}) {
    machine.devices.push_back({{uuid, "GPU", 16_GiB, true}, {}, 16_GiB});
  }
  machine.context = 1_GiB;
  machine.jobs = 4;
  return machine;
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  insights::CtestSuite suite;
  try {
    suite = insights::parse_ctest_suite({reinterpret_cast<const char*>(data), size});
  } catch (const Error&) {
    return 0; // InvalidSetting is one
  }
  const auto& all = suite.tests;
  for (std::size_t i = 0; i < all.size(); ++i) {
    require(all[i].processors >= 1, "a test takes a job", all[i].name);
    require(!all[i].cost || std::isfinite(*all[i].cost), "a cost is a number", all[i].name);
    require(!all[i].request || (all[i].request->gpus >= 1 && all[i].request->gpus <= 16),
            "a test asks for 1 to 16 GPUs", all[i].name);
    const auto& after = all[i].after;
    require(std::all_of(after.begin(), after.end(), [&](auto before) { return before < all.size() && before != i; }),
            "a test comes after others", all[i].name);
  }
  if (all.size() > 50) {
    return 0; // a plan takes as long as its suite is large
  }
  const auto plan = insights::plan_suite(all, machine());
  require(std::isfinite(plan.time.count()) && plan.runs.size() == all.size(), "each suite has an end");
  for (const auto& bound : plan.bounds) {
    require(bound.time.count() <= plan.time.count() + 1e-6, "no plan is shorter than its bounds");
  }
  const auto shards = insights::assign_shards(all, 3);
  require(shards.size() == 3, "there are as many shards as were asked for");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto in = [&](std::size_t test) {
      std::vector<std::size_t> has_it;
      for (std::size_t shard = 0; shard < shards.size(); ++shard) {
        if (std::count(shards[shard].begin(), shards[shard].end(), test) == 1) {
          has_it.push_back(shard);
        }
      }
      return has_it;
    };
    const auto own = in(i);
    const auto& with = all[i].runs_with;
    require(with.empty() ? own.size() == 1 : !own.empty(), "each test is in a shard", all[i].name);
    for (const auto before : all[i].after) {
      const auto others = in(before);
      require(std::count(with.begin(), with.end(), before) == 0
                  ? std::find_first_of(own.begin(), own.end(), others.begin(), others.end()) != own.end()
                  : std::includes(own.begin(), own.end(), others.begin(), others.end()),
              "what comes after a test is in its shard", all[i].name);
    }
  }
  return 0;
}
