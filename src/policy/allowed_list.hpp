#pragma once

#include "policy/settings.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace gputest::policy {

/// A list of devices as CUDA_VISIBLE_DEVICES has it, and the variable it is from.
struct AllowedList {
  std::string variable;
  std::string value;
};

/// What restricts this process to some of the machine's `devices`: CUDA_VISIBLE_DEVICES, by the user or a batch system,
/// or else what Slurm says of the job. nullopt if nothing does. Pure.
///
/// Slurm's own lists count where CUDA_VISIBLE_DEVICES was taken out of the environment: GPU_DEVICE_ORDINAL is the same
/// list; SLURM_STEP_GPUS and SLURM_JOB_GPUS number the whole machine, which means something only where more devices are
/// seen than they name: fewer are seen where Slurm hides the others.
[[nodiscard]] std::optional<AllowedList> allowed_list(const ReadVariable& read, std::size_t devices);

} // namespace gputest::policy
