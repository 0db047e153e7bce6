// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/mpi_rank.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace gputest::policy {
namespace {

using namespace literals;
using Variables = std::map<std::string, std::string>;

auto reader_of(const Variables& variables) {
  return [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional{found->second};
  };
}

struct Row {
  Variables variables;
  int local_rank;
  int local_size;
  std::string because;
};

TEST(MpiRank, is_what_each_launcher_sets) {
  const std::vector<Row> rows{
      {{{"OMPI_COMM_WORLD_LOCAL_RANK", "1"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}, {"OMPI_COMM_WORLD_SIZE", "8"}},
       1,
       4,
       "OMPI_COMM_WORLD_LOCAL_RANK=1"},
      {{{"MPI_LOCALRANKID", "3"}, {"MPI_LOCALNRANKS", "4"}}, 3, 4, "MPI_LOCALRANKID=3"},
      {{{"MV2_COMM_WORLD_LOCAL_RANK", "0"}, {"MV2_COMM_WORLD_LOCAL_SIZE", "2"}}, 0, 2, "MV2_COMM_WORLD_LOCAL_RANK=0"},
      {{{"PALS_LOCAL_RANKID", "1"}, {"PALS_LOCAL_SIZE", "2"}}, 1, 2, "PALS_LOCAL_RANKID=1"},
      {{{"FLUX_TASK_LOCAL_ID", "1"}, {"FLUX_JOB_SIZE", "2"}}, 1, 2, "FLUX_TASK_LOCAL_ID=1"},
      {{{"SLURM_LOCALID", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_STEP_TASKS_PER_NODE", "2"}},
       1,
       2,
       "SLURM_LOCALID=1"},
      // The most on any node.
      {{{"SLURM_LOCALID", "1"}, {"SLURM_STEP_NUM_TASKS", "11"}, {"SLURM_STEP_TASKS_PER_NODE", "3,4(x2)"}},
       1,
       4,
       "SLURM_LOCALID=1"},
      // Only the whole world's size is known.
      {{{"SLURM_LOCALID", "1"}, {"SLURM_STEP_NUM_TASKS", "11"}}, 1, 11, "SLURM_LOCALID=1"},
      {{{"SLURM_LOCALID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_STEP_TASKS_PER_NODE", "x"}},
       0,
       2,
       "SLURM_LOCALID=0"},
      // One rank here and others elsewhere.
      {{{"OMPI_COMM_WORLD_LOCAL_RANK", "0"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}},
       0,
       1,
       "OMPI_COMM_WORLD_LOCAL_RANK=0"},
      // Open MPI's mpirun below Slurm.
      {{{"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
        {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
        {"SLURM_LOCALID", "0"},
        {"SLURM_STEP_NUM_TASKS", "5"}},
       1,
       2,
       "OMPI_COMM_WORLD_LOCAL_RANK=1"},
      // A size that contradicts the rank.
      {{{"MPI_LOCALRANKID", "5"}, {"MPI_LOCALNRANKS", "2"}}, 5, 6, "MPI_LOCALRANKID=5"},
  };
  for (const auto& row : rows) {
    const auto rank = find_mpi_rank(reader_of(row.variables));
    ASSERT_TRUE(rank) << row.because;
    EXPECT_EQ(rank->local_rank, row.local_rank) << row.because;
    EXPECT_EQ(rank->local_size, row.local_size) << row.because;
    EXPECT_EQ(rank->because, row.because);
  }
}

TEST(MpiRank, is_none_for_what_is_alone_or_no_rank) {
  const std::vector<Variables> rows{
      {},
      {{"OMPI_COMM_WORLD_LOCAL_RANK", "0"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}},
      {{"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
       {"OMPI_COMM_WORLD_SIZE", "1"},
       {"SLURM_LOCALID", "0"},
       {"SLURM_STEP_NUM_TASKS", "9"}},
      {{"OMPI_COMM_WORLD_LOCAL_RANK", "one"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}},
      {{"OMPI_COMM_WORLD_LOCAL_RANK", "-1"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}},
      {{"OMPI_COMM_WORLD_LOCAL_RANK", "1x"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}},
      {{"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}},
      {{"MPI_LOCALRANKID", "99999999999999"}, {"MPI_LOCALNRANKS", "4"}},
      // A batch script of a job with many tasks is none of them.
      {{"SLURM_LOCALID", "0"}, {"SLURM_NTASKS", "16"}, {"SLURM_TASKS_PER_NODE", "16"}},
      {{"SLURM_LOCALID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}},
  };
  for (const auto& row : rows) {
    EXPECT_FALSE(find_mpi_rank(reader_of(row))) << (row.empty() ? "" : row.begin()->first + "=" + row.begin()->second);
  }
}

TEST(MpiVariable, is_there_also_for_who_is_alone) {
  const auto variable = [](const Variables& variables) { return mpi_variable(reader_of(variables)); };
  EXPECT_EQ(variable({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}}), "OMPI_COMM_WORLD_RANK");
  EXPECT_EQ(variable({{"PMI_RANK", "0"}}), "PMI_RANK");
  EXPECT_EQ(variable({{"PMIX_RANK", "1"}, {"PMI_RANK", ""}}), "PMIX_RANK");
  EXPECT_EQ(variable({{"SLURM_LOCALID", "0"}}), "");
}

TEST(RanksOnADevice, are_rounded_up) {
  MpiRank rank;
  rank.local_size = 5;
  EXPECT_EQ(ranks_on_a_device(rank, 1), 5);
  EXPECT_EQ(ranks_on_a_device(rank, 2), 3);
  EXPECT_EQ(ranks_on_a_device(rank, 5), 1);
  EXPECT_EQ(ranks_on_a_device(rank, 8), 1);
}

TEST(ShareOf, leaves_room_for_the_contexts_of_the_others) {
  EXPECT_EQ(share_of(4_GiB, 512_MiB, 1), 4_GiB);
  EXPECT_EQ(share_of(4_GiB, 512_MiB, 2), 1792_MiB);
  EXPECT_EQ(share_of(4_GiB, 0_B, 4), 1_GiB);
  EXPECT_EQ(share_of(1_GiB, 512_MiB, 4), 0_B);
}

TEST(LeaseFor, has_as_much_for_each) {
  EXPECT_EQ(lease_of_ranks(3_GiB, 512_MiB, 1), 3_GiB);
  EXPECT_EQ(lease_of_ranks(1792_MiB, 512_MiB, 2), 4_GiB);
  for (const int ranks : {1, 2, 3, 7}) {
    EXPECT_EQ(share_of(lease_of_ranks(3_GiB, 512_MiB, ranks), 512_MiB, ranks), 3_GiB);
  }
}

} // namespace
} // namespace gputest::policy
