// SPDX-License-Identifier: BSD-3-Clause
#include "support/suite_test.hpp"

#include <gmock/gmock.h>

namespace gputest::tests {
namespace {

using testing::HasSubstr;

/// Which devices a process may be placed on.
class AllowedDevices : public SuiteTest {
protected:
  AllowedDevices() { set("GPUTEST_DEVICES", "simulated:3x4GiB,context=0"); }

  [[nodiscard]] Ended run_one() const { return run("pinned", {"--gtest_filter=Visible.*"}); }
};

TEST_F(AllowedDevices, are_of_all_resource_groups) {
  set("CTEST_RESOURCE_GROUP_COUNT", "2");
  set("CTEST_RESOURCE_GROUP_0_GPUS", "id:2,slots:1");
  set("CTEST_RESOURCE_GROUP_1_GPUS", "id:1,slots:1");
  set("GPUTEST_GPUS", "2");
  EXPECT_THAT(run_one().out, HasSubstr("the test sees SIM-3x4096MiB-2,SIM-3x4096MiB-1, id:0,slots:1 of it\n"));
}

TEST_F(AllowedDevices, are_of_the_groups_that_have_gpus) {
  set("CTEST_RESOURCE_GROUP_COUNT", "2");
  set("CTEST_RESOURCE_GROUP_0_CPUS", "id:0,slots:4");
  set("CTEST_RESOURCE_GROUP_1_GPUS", "id:2,slots:1");
  EXPECT_THAT(run_one().out, HasSubstr("the test sees SIM-3x4096MiB-2\n"));
}

TEST_F(AllowedDevices, have_the_numbers_of_cuda_in_what_ctest_has_allocated) {
  set("CTEST_RESOURCE_GROUP_COUNT", "1");
  set("CTEST_RESOURCE_GROUP_0_GPUS", "id:2,slots:1");
  EXPECT_THAT(run_one().out, HasSubstr("the test sees SIM-3x4096MiB-2, id:0,slots:1 of it\n"));
}

TEST_F(AllowedDevices, are_too_few_where_ctest_puts_two_groups_on_one_device) {
  set("CTEST_RESOURCE_GROUP_COUNT", "2");
  set("CTEST_RESOURCE_GROUP_0_GPUS", "id:2,slots:50");
  set("CTEST_RESOURCE_GROUP_1_GPUS", "id:2,slots:50");
  set("GPUTEST_GPUS", "2");
  const Ended ended = run_one();
  EXPECT_EQ(ended.exit_code, 77);
  EXPECT_THAT(ended.out, HasSubstr("needs 2 GPUs and may use 1 (SIM-3x4096MiB-2); CTest has put its 2 resource groups "
                                   "on 1 device, which it may do"));
}

TEST_F(AllowedDevices, are_those_of_the_slurm_job_where_nothing_else_says) {
  set("SLURM_JOB_ID", "7");
  set("SLURM_JOB_GPUS", "1,2");
  EXPECT_THAT(run_one().out, HasSubstr("the test sees SIM-3x4096MiB-1\n"));
  set("SLURM_JOB_GPUS", "7,8");
  EXPECT_THAT(run_one().out, HasSubstr("no GPU: SLURM_JOB_GPUS='7,8' allows none of the 3 of this machine"));
}

} // namespace
} // namespace gputest::tests
