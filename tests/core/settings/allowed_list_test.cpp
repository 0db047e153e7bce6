// SPDX-License-Identifier: BSD-3-Clause
#include "core/settings/settings.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace gputest::settings {
namespace {

using Variables = std::map<std::string, std::string>;

/// `<variable>=<value>` of what restricts, empty if nothing does.
std::string restriction(const Variables& variables, std::size_t devices) {
  const auto settings = parse_settings([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional{found->second};
  });
  const auto list = restriction_of(settings, devices);
  return list ? list->variable + "=" + list->value : "";
}

struct Row {
  Variables variables;
  std::size_t devices;
  std::string restriction;
};

TEST(Restriction, is_that_of_cuda_or_of_slurm) {
  const Variables job{{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_GPUS", "2,3"}};
  const auto with = [&](Variables more) {
    more.insert(job.begin(), job.end());
    return more;
  };
  const std::vector<Row> rows{
      {{}, 4, ""},
      {{{"CUDA_VISIBLE_DEVICES", "1"}}, 4, "CUDA_VISIBLE_DEVICES=1"},
      {{{"CUDA_VISIBLE_DEVICES", ""}}, 4, "CUDA_VISIBLE_DEVICES="},
      {with({{"CUDA_VISIBLE_DEVICES", "0,1"}}), 4, "CUDA_VISIBLE_DEVICES=0,1"},
      {job, 4, "SLURM_JOB_GPUS=2,3"},
      {job, 2, ""}, // the others are hidden: these two are the job's
      {job, 1, ""},
      {with({{"SLURM_STEP_GPUS", "3"}}), 4, "SLURM_STEP_GPUS=3"},
      {with({{"SLURM_STEP_GPUS", ""}}), 4, "SLURM_JOB_GPUS=2,3"},
      {with({{"GPU_DEVICE_ORDINAL", "0"}, {"SLURM_STEP_GPUS", "3"}}), 4, "GPU_DEVICE_ORDINAL=0"},
      {{{"SLURM_JOB_GPUS", "2,3"}}, 4, ""},   // left over from somewhere
      {{{"GPU_DEVICE_ORDINAL", "0"}}, 4, ""}, // somebody else's setting for other GPUs
  };
  for (const auto& row : rows) {
    EXPECT_EQ(restriction(row.variables, row.devices), row.restriction) << row.devices;
  }
}

} // namespace
} // namespace gputest::settings
