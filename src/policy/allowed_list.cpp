#include "policy/allowed_list.hpp"

#include <algorithm>

namespace gputest::policy {

std::optional<AllowedList> allowed_list(const ReadVariable& read, std::size_t devices) {
  const char* const cuda = "CUDA_VISIBLE_DEVICES";
  if (const auto value = read(cuda)) {
    return AllowedList{cuda, *value};
  }
  if (!read("SLURM_JOB_ID")) {
    return std::nullopt;
  }
  for (const char* const name : {"GPU_DEVICE_ORDINAL", "SLURM_STEP_GPUS", "SLURM_JOB_GPUS"}) {
    const auto value = read(name);
    if (!value || value->empty()) {
      continue;
    }
    const auto named = static_cast<std::size_t>(std::count(value->begin(), value->end(), ',')) + 1;
    return named < devices ? std::optional{AllowedList{name, *value}} : std::nullopt;
  }
  return std::nullopt;
}

} // namespace gputest::policy
