// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/visible_devices.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

namespace gputest::policy {

namespace {

using Indices = std::vector<std::size_t>;
using Uuids = std::vector<std::string>;

const Uuids machine{"GPU-8a3f0000-aaaa", "GPU-8a310000-bbbb", "GPU-77aa0000-cccc", "MIG-12340000-dddd"};

struct Row {
  std::optional<std::string> value;
  Indices visible;
};

TEST(VisibleDevices, reads_every_form_as_cuda_does) {
  const std::vector<Row> rows{
      {std::nullopt, {0, 1, 2, 3}},
      {"", {}},
      {"-1", {}},
      {"NoDevFiles", {}},
      {"0", {0}},
      {"1,0", {1, 0}},
      {"0,-1,1", {0}},
      {"0,2,x,1", {0, 2}},
      {"0,,1", {0}},
      {"0,", {0}},
      {",0", {}},
      {"4", {}},
      {"0,4,1", {0}},
      {"99999999999999999999999", {}},
      {" 1 , 0 ", {1, 0}},
      {"+1", {1}},
      {"1x", {1}},
      {"2 1", {2}},
      {"GPU-8a3f0000-aaaa", {0}},
      {"GPU-77aa0000-cccc,GPU-8a3f0000-aaaa", {2, 0}},
      {"GPU-8a3f", {0}},
      {"GPU-77", {2}},
      {"GPU-8a3", {}},
      {"GPU-77,GPU-8a3,GPU-8a3f", {2}},
      {"GPU-", {}},
      {"GPU-ffff", {}},
      {"GPU-8a3f0000-aaaa-and-more", {}},
      {"8a3f0000-aaaa", {}},
      {"MIG-12340000-dddd", {3}},
      {"MIG-1", {3}},
      {"MIG-12340000-dddd,GPU-77", {3, 2}},
      {"MIG-12340000-dddd,MIG-1", {}}, // the same twice
      {"3", {3}},
      {"MIG-2", {}},
      {"0,GPU-77aa", {0}},
      {"GPU-77aa,0", {2}},
      // Named twice.
      {"0,0", {}},
      {"1,0,1", {}},
      {"GPU-77aa,GPU-77", {}},
      {"0,-1,0", {0}},
  };
  for (const Row& row : rows)
    EXPECT_EQ(visible_devices(row.value, machine), row.visible) << row.value.value_or("(unset)");
}

TEST(VisibleDevices, knows_names_of_other_kinds_and_takes_a_whole_one_over_the_beginning_of_another) {
  const Uuids simulated{"SIM-0", "SIM-1", "SIM-10"};
  EXPECT_EQ(visible_devices("SIM-1,SIM-0", simulated), (Indices{1, 0}));
  EXPECT_EQ(visible_devices("SIM-10", simulated), (Indices{2}));
  const Uuids slices{"MIG-GPU-8a3f0000-aaaa/1/0", "MIG-GPU-8a3f0000-aaaa/2/0"}; // as older drivers name them
  EXPECT_EQ(visible_devices("MIG-GPU-8a3f0000-aaaa/2/0,MIG-GPU-8a3f0000-aaaa/1/0", slices), (Indices{1, 0}));
  EXPECT_EQ(visible_devices("MIG-GPU-8a3f", slices), Indices{}) << "of both";
  EXPECT_EQ(visible_devices(std::nullopt, {}), Indices{});
  EXPECT_EQ(visible_devices("0", {}), Indices{});
}

TEST(CtestAllocation, is_none_without_resource_groups) {
  EXPECT_EQ(ctest_allocation(std::nullopt, {}, machine), std::nullopt);
  EXPECT_EQ(ctest_allocation("1", {}, machine), std::nullopt);
  EXPECT_EQ(ctest_allocation("1", {""}, machine), std::nullopt);
}

TEST(CtestAllocation, lists_the_devices_of_all_groups_once) {
  EXPECT_EQ(ctest_allocation("1", {"id:1,slots:1"}, machine), (Indices{1}));
  EXPECT_EQ(ctest_allocation("2", {"id:2,slots:50", "id:0,slots:50"}, machine), (Indices{2, 0}));
  EXPECT_EQ(ctest_allocation("1", {"id:2,slots:1;id:1,slots:3"}, machine), (Indices{2, 1}));
  EXPECT_EQ(ctest_allocation("2", {"id:1,slots:1", "id:1,slots:1"}, machine), (Indices{1}));
}

TEST(CtestAllocation, takes_a_uuid_in_the_letters_that_ctest_allows) {
  EXPECT_EQ(ctest_allocation("1", {"id:gpu_77aa0000_cccc,slots:1"}, machine), (Indices{2}));
  EXPECT_EQ(ctest_allocation("1", {"id:mig_12340000_dddd,slots:1"}, machine), (Indices{3}));
  EXPECT_EQ(ctest_allocation("1", {"id:gpu_1,slots:1"}, {"GPU-0", "GPU-1"}), (Indices{1}));
}

TEST(CtestAllocation, refuses_an_id_that_names_no_device_and_lists_those_there_are) {
  try {
    (void)ctest_allocation("1", {"id:crypto,slots:1"}, {"GPU-8A", "GPU-77"});
    FAIL() << "did not throw";
  } catch (const InvalidSetting& error) {
    EXPECT_STREQ(error.what(),
                 "CTest's resource allocation gives this test \"id:crypto,slots:1\" of the resource type gpus or "
                 "cudagpu, which names "
                 "no device: the devices are 0 (gpu_8a), 1 (gpu_77). Use these numbers or names as ids in the resource "
                 "spec file, or run ctest without one.");
  }
  EXPECT_THROW((void)ctest_allocation("1", {"id:4,slots:1"}, machine), InvalidSetting);
  EXPECT_THROW((void)ctest_allocation("1", {"slots:1"}, machine), InvalidSetting);
  EXPECT_THROW((void)ctest_allocation("1", {"id:0,slots:1"}, {}), InvalidSetting);
}

TEST(CtestAllocation, names_devices_by_the_numbers_that_cuda_has_for_those_it_shows) {
  const Uuids shown{machine[2], machine[1]};
  EXPECT_EQ(renumbered_group("id:1,slots:1", machine, shown), "id:1,slots:1");
  EXPECT_EQ(renumbered_group("id:2,slots:50", machine, shown), "id:0,slots:50");
  EXPECT_EQ(renumbered_group("slots:3,id:2", machine, {machine[2]}), "slots:3,id:0");
  EXPECT_EQ(renumbered_group("id:2,slots:1;id:0,slots:1;id:1,slots:2", machine, shown),
            "id:0,slots:1;id:0,slots:1;id:1,slots:2");
  EXPECT_EQ(renumbered_group("id:7,slots:1", machine, shown), "id:7,slots:1");
  EXPECT_EQ(renumbered_group("id:gpu_77aa0000_cccc,slots:1", machine, shown), "id:gpu_77aa0000_cccc,slots:1");
}

using Indices = std::vector<std::size_t>;

const DeviceKinds none{};
const DeviceKinds whole{{0, 1}, {}};
const DeviceKinds slices{{}, {0, 1, 2}};
const DeviceKinds mixed{{2, 3}, {0, 1}};

TEST(MigSlices, are_given_one_by_one) {
  EXPECT_EQ(max_for_a_process(none), 0U);
  EXPECT_EQ(max_for_a_process(whole), 2U);
  EXPECT_EQ(max_for_a_process(slices), 1U);
  EXPECT_EQ(max_for_a_process(mixed), 2U);
  EXPECT_EQ(max_for_a_process({{2}, {0, 1}}), 1U);
}

TEST(MigSlices, are_candidates_for_one_device_only) {
  EXPECT_EQ(candidates_for(mixed, {0, 1, 2, 3}, 1), (Indices{0, 1, 2, 3}));
  EXPECT_EQ(candidates_for(mixed, {0, 1, 2, 3}, 2), (Indices{2, 3}));
  EXPECT_EQ(candidates_for(slices, {2, 0, 1}, 1), (Indices{2, 0, 1}));
}

TEST(MigSlices, are_shown_alone) {
  EXPECT_EQ(shown_by_cuda(slices, {1, 0}), Indices{1});
  EXPECT_EQ(shown_by_cuda(mixed, {0, 2}), Indices{0});
  EXPECT_EQ(shown_by_cuda(mixed, {2, 0, 3}), (Indices{2, 3}));
  EXPECT_EQ(shown_by_cuda(whole, {1, 0}), (Indices{1, 0}));
  EXPECT_EQ(shown_by_cuda(none, {}), Indices{});
}

} // namespace

} // namespace gputest::policy
