// SPDX-License-Identifier: BSD-3-Clause
// An MPI program under the launcher, started by something that behaves as mpirun does.
#include "support/suite_test.hpp"
#include "support/tool.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace gputest::tool {
namespace {

using testing::HasSubstr;

class MpiProgram : public tests::SuiteTest {
protected:
  MpiProgram() {
    set("GPUTEST_DEVICES", "simulated:3x4GiB,context=256MiB");
    const std::string mpirun = folder() + "/mpirun";
    std::ofstream{mpirun} << R"(#!/bin/sh
ranks=$1; shift
for rank in $(seq 0 $((ranks - 1))); do
  OMPI_COMM_WORLD_SIZE=$ranks OMPI_COMM_WORLD_LOCAL_SIZE=$ranks OMPI_COMM_WORLD_LOCAL_RANK=$rank "$@" &
  pids="$pids $!"
done
result=0
for pid in $pids; do wait $pid || result=1; done
exit $result
)";
    std::filesystem::permissions(mpirun, std::filesystem::perms::owner_all);
  }

  [[nodiscard]] tests::Ended run_ranks(const std::string& ranks, const std::string& suite,
                                       const std::string& filter) const {
    return start_program({tests::Tool::path(), "run", "--gpus", "2", "--memory", "2GiB", "--", folder() + "/mpirun",
                          ranks, path_of(suite), "--gtest_filter=" + filter})
        .finish();
  }
};

TEST_F(MpiProgram, has_a_device_for_each_rank_in_turn) {
  const auto ended = run_ranks("4", "pinned", "Visible.*");
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_EQ(tests::count(ended.out, "the test sees SIM-3x4096MiB-0\n"), 2U) << ended.out;
  EXPECT_EQ(tests::count(ended.out, "the test sees SIM-3x4096MiB-1\n"), 2U) << ended.out;
}

TEST_F(MpiProgram, has_the_devices_that_ctest_has_allocated_by_the_numbers_that_cuda_has_for_them) {
  set("CTEST_RESOURCE_GROUP_COUNT", "2");
  set("CTEST_RESOURCE_GROUP_0_GPUS", "id:2,slots:1");
  set("CTEST_RESOURCE_GROUP_1_GPUS", "id:1,slots:1");
  const auto ended = run_ranks("2", "pinned", "Visible.*");
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("the test sees SIM-3x4096MiB-2, id:0,slots:1 of it\n"));
  EXPECT_THAT(ended.out, HasSubstr("the test sees SIM-3x4096MiB-1, id:0,slots:1 of it\n"));
}

TEST_F(MpiProgram, fails_where_its_ranks_together_ask_for_more_than_its_lease) {
  EXPECT_EQ(run_ranks("2", "annotated", "NoFixture.with_bytes").exit_code, 0);
  const auto ended = run_ranks("4", "annotated", "NoFixture.with_bytes");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.out, HasSubstr("is 2.25 GiB of a device, and the lease has 2 GiB. Write MEMORY 2304MiB"));
}

} // namespace
} // namespace gputest::tool
