// SPDX-License-Identifier: BSD-3-Clause
#include "insights/suite_plan.hpp"

#include "core/policy/simulated_devices.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gputest::insights {
namespace {

using namespace literals;

PlannedTest host_test(const std::string& name, double seconds) {
  PlannedTest planned;
  planned.name = name;
  planned.time = PlannedSeconds{seconds};
  return planned;
}

PlannedTest gpu_test(const std::string& name, double seconds, Request request) {
  auto planned = host_test(name, seconds);
  planned.request = request;
  return planned;
}

PlannedMachine machine(std::size_t devices, unsigned jobs) {
  PlannedMachine planned;
  for (std::size_t i = 0; i < devices; ++i) {
    planned.devices.push_back({{std::to_string(i), "GPU", 16_GiB, false}, policy::usual_simulated_facts(), 16_GiB});
  }
  planned.context = 1_GiB;
  planned.jobs = jobs;
  return planned;
}

double bound(const SuitePlan& plan, PlanBound::Kind kind) {
  return std::find_if(plan.bounds.begin(), plan.bounds.end(), [&](const auto& b) { return b.kind == kind; })
      ->time.count();
}

TEST(SuitePlan, one_place_runs_one_test_after_another) {
  const std::vector tests{host_test("a", 1), host_test("b", 3), host_test("c", 2)};
  const auto plan = plan_suite(tests, machine(0, 1));
  EXPECT_DOUBLE_EQ(plan.time.count(), 6);
  EXPECT_DOUBLE_EQ(plan.runs[1].start.count(), 1) << "in the order of the list";
}

TEST(SuitePlan, several_places_start_the_longest_first) {
  const std::vector tests{host_test("a", 1), host_test("b", 1), host_test("c", 2)};
  const auto plan = plan_suite(tests, machine(0, 2));
  EXPECT_DOUBLE_EQ(plan.time.count(), 2);
  EXPECT_DOUBLE_EQ(plan.runs[2].start.count(), 0);
}

TEST(SuitePlan, a_cost_beats_the_time) {
  std::vector tests{host_test("a", 1), host_test("b", 2)};
  tests[0].cost = 100;
  tests[1].cost = 1;
  tests.push_back(host_test("c", 3));
  const auto plan = plan_suite(tests, machine(0, 2));
  EXPECT_DOUBLE_EQ(plan.runs[0].start.count(), 0);
  EXPECT_DOUBLE_EQ(plan.runs[2].start.count(), 0);
  EXPECT_DOUBLE_EQ(plan.runs[1].start.count(), 1);
}

TEST(SuitePlan, what_needs_much_memory_starts_first) {
  std::vector tests{gpu_test("small", 9, MemoryClass::small), gpu_test("much", 1, 14_GiB)};
  auto planned = machine(1, 2);
  planned.devices.front().free = 15_GiB;
  EXPECT_DOUBLE_EQ(plan_suite(tests, planned).runs[1].start.count(), 0);
  tests[0].cost = tests[1].cost = 5; // cases that workers may run
  EXPECT_DOUBLE_EQ(plan_suite(tests, planned).runs[1].start.count(), 0);
}

TEST(SuitePlan, only_as_many_run_at_once_as_fit) {
  std::vector<PlannedTest> tests;
  for (int i = 0; i < 6; ++i) {
    tests.push_back(gpu_test(std::to_string(i), 1, 7_GiB)); // with its context 8 GiB, two on a device
  }
  EXPECT_DOUBLE_EQ(plan_suite(tests, machine(1, 16)).time.count(), 3);
  EXPECT_DOUBLE_EQ(plan_suite(tests, machine(3, 16)).time.count(), 1);
}

TEST(SuitePlan, mediums_without_a_size_have_one_lock_a_device) {
  std::vector<PlannedTest> tests;
  for (int i = 0; i < 4; ++i) {
    tests.push_back(gpu_test(std::to_string(i), 1, MemoryClass::medium));
  }
  EXPECT_DOUBLE_EQ(plan_suite(tests, machine(2, 16)).time.count(), 2);
}

TEST(SuitePlan, several_gpus_are_taken_at_once) {
  Request two{7_GiB};
  two.gpus = 2;
  const std::vector tests{gpu_test("pair", 2, two), gpu_test("single", 1, 7_GiB), gpu_test("pair again", 2, two)};
  const auto plan = plan_suite(tests, machine(2, 16));
  EXPECT_EQ(plan.runs[0].devices, 3U);
  EXPECT_DOUBLE_EQ(plan.time.count(), 3);
}

TEST(SuitePlan, a_test_without_memory_leaves_its_place_to_others) {
  const std::vector tests{gpu_test("a", 2, 12_GiB), gpu_test("b", 2, 12_GiB), host_test("host", 1)};
  const auto plan = plan_suite(tests, machine(1, 2));
  EXPECT_DOUBLE_EQ(plan.time.count(), 4);
  EXPECT_DOUBLE_EQ(plan.runs[2].start.count(), 0);
}

TEST(SuitePlan, a_whole_device_is_alone_on_it) {
  auto large = gpu_test("large", 2, MemoryClass::large);
  large.large = LargePolicy::wait;
  const std::vector tests{large, gpu_test("small", 1, MemoryClass::small),
                          gpu_test("small too", 1, MemoryClass::small)};
  EXPECT_DOUBLE_EQ(plan_suite(tests, machine(1, 8)).time.count(), 3);
}

TEST(SuitePlan, serial_tests_and_locks_keep_others_out) {
  std::vector tests{host_test("serial", 2), host_test("a", 1), host_test("b", 1)};
  tests[0].serial = true;
  EXPECT_DOUBLE_EQ(plan_suite(tests, machine(0, 8)).time.count(), 3);
  tests[0].serial = false;
  for (auto& test : tests) {
    test.locks = {"port"};
  }
  EXPECT_DOUBLE_EQ(plan_suite(tests, machine(0, 8)).time.count(), 4);
}

TEST(SuitePlan, processors_are_places) {
  std::vector tests{host_test("wide", 1), host_test("a", 1), host_test("wider than all", 1)};
  tests[0].processors = 4;
  tests[2].processors = 40;
  EXPECT_DOUBLE_EQ(plan_suite(tests, machine(0, 4)).time.count(), 3);
}

TEST(SuitePlan, a_test_starts_after_those_it_depends_on) {
  std::vector tests{host_test("last", 5), host_test("first", 1)};
  tests[0].after = {1};
  const auto plan = plan_suite(tests, machine(0, 4));
  EXPECT_DOUBLE_EQ(plan.runs[0].start.count(), 1);
  EXPECT_DOUBLE_EQ(bound(plan, PlanBound::Kind::longest), 5);
  EXPECT_EQ(plan.bounds.front().test, "last");
}

TEST(SuitePlan, the_bound_of_memory_is_true_wherever_a_whole_device_is_leased) {
  std::vector tests{gpu_test("whole", 4, MemoryClass::large), gpu_test("a", 1, 16_GiB), gpu_test("b", 1, 16_GiB)};
  tests[0].large = LargePolicy::wait;
  auto planned = machine(2, 4);
  planned.context = {};
  planned.devices[0].free = 160_GiB; // the plan may lease this one
  EXPECT_NEAR(bound(plan_suite(tests, planned), PlanBound::Kind::memory), 6.0 * 16 / 176, 1e-9);
}

TEST(SuitePlan, cuda_does_not_start_again_in_a_worker) {
  std::vector<PlannedTest> tests;
  for (int i = 0; i < 10; ++i) {
    tests.push_back(gpu_test(std::to_string(i), 0.5, MemoryClass::small));
    tests.back().in_worker = true;
  }
  auto planned = machine(1, 10);
  planned.context_time = PlannedSeconds{0.25};
  EXPECT_DOUBLE_EQ(plan_suite(tests, planned).time.count(), 0.5);
}

TEST(SuitePlan, a_circle_of_tests_ends) {
  std::vector tests{host_test("a", 1), host_test("b", 1)};
  tests[0].after = {1};
  tests[1].after = {0};
  EXPECT_DOUBLE_EQ(plan_suite(tests, machine(0, 4)).time.count(), 2);
}

TEST(SuitePlan, what_does_not_run_has_a_reason_and_takes_no_time) {
  Request sm_100{1_GiB};
  sm_100.capabilities = parse_capabilities("sm_100");
  Request three{1_GiB};
  three.gpus = 3;
  std::vector tests{
      gpu_test("large", 9, MemoryClass::large), gpu_test("too large", 9, 16_GiB), gpu_test("too new", 9, sm_100),
      gpu_test("too many", 9, three),           host_test("disabled", 9),         gpu_test("runs", 1, 15_GiB)};
  tests[4].disabled = true;
  const auto plan = plan_suite(tests, machine(2, 8));
  EXPECT_DOUBLE_EQ(plan.time.count(), 1);
  EXPECT_EQ(plan.runs[0].why_not, "large, and excluded while others run");
  EXPECT_EQ(plan.runs[1].why_not, "needs 17 GiB, more than a GPU has (16 GiB)");
  EXPECT_EQ(plan.runs[2].why_not, "GPU: sm_90");
  EXPECT_EQ(plan.runs[3].why_not, "needs 3 GPUs");
  EXPECT_EQ(plan.runs[4].why_not, "disabled");
  EXPECT_EQ(plan.runs[5].why_not, "");
  EXPECT_EQ(plan_suite(tests, machine(0, 8)).runs[5].why_not, "there is no GPU");
  EXPECT_EQ(plan_suite(tests, machine(2, 1)).runs[0].why_not, "") << "at -j1 a large test is alone";
}

TEST(SuitePlan, cuda_starts_in_one_process_after_another) {
  std::vector<PlannedTest> tests;
  for (int i = 0; i < 10; ++i) {
    tests.push_back(gpu_test(std::to_string(i), 0.5, MemoryClass::small));
  }
  auto planned = machine(1, 10);
  planned.context_time = PlannedSeconds{0.25};
  const auto plan = plan_suite(tests, planned);
  EXPECT_DOUBLE_EQ(plan.time.count(), 2.75);
  EXPECT_EQ(plan.bounds.front().kind, PlanBound::Kind::contexts);
  EXPECT_DOUBLE_EQ(plan.bounds.front().time.count(), 2.5);
}

TEST(SuitePlan, never_takes_less_than_its_bounds) {
  std::vector<PlannedTest> tests;
  for (int i = 0; i < 200; ++i) {
    tests.push_back(i % 5 == 0 ? host_test(std::to_string(i), 0.1 * (i % 11))
                               : gpu_test(std::to_string(i), 0.1 * (i % 7), Bytes{(1ULL << 30U) * (i % 13 + 1)}));
    if (i % 9 == 8) {
      tests.back().after.push_back(static_cast<std::size_t>(i) - 4);
    }
  }
  for (const unsigned jobs : {1U, 3U, 16U, 100U}) {
    const auto plan = plan_suite(tests, machine(2, jobs));
    EXPECT_GE(plan.time.count() + 1e-9, plan.bounds.front().time.count()) << jobs;
    for (std::size_t i = 0; i < tests.size(); ++i) {
      EXPECT_NEAR((plan.runs[i].end - plan.runs[i].start).count(), tests[i].time.count(), 1e-9) << i;
    }
  }
}

} // namespace
} // namespace gputest::insights
