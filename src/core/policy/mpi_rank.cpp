// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/mpi_rank.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace gputest::policy {

namespace {

/// What a launcher of MPI programs sets; null if it sets nothing of the kind.
struct Launcher {
  const char* rank; ///< what its MPI libraries read
  const char* local_rank;
  const char* local_size;
  const char* world_size;
};

// Slurm comes last: it may have started the launcher of another MPI, and then each rank inherits the launcher's own
// number. What srun sets only for a job step goes in, since a batch script has SLURM_LOCALID as well.
constexpr std::array<Launcher, 6> launchers{{
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_SIZE"},
    {"PMI_RANK", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "PMI_SIZE"},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE", "MV2_COMM_WORLD_SIZE"},
    {"PALS_RANKID", "PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE", "PMI_SIZE"},
    {"PMI_RANK", "FLUX_TASK_LOCAL_ID", nullptr, "FLUX_JOB_SIZE"},
    {"PMIX_RANK", "SLURM_LOCALID", nullptr, "SLURM_STEP_NUM_TASKS"},
}};

constexpr int max_ranks = 1'000'000;

std::optional<int> number_of(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_one = error == std::errc{} && end == text.data() + text.size() && number >= 0 && number <= max_ranks;
  return is_one ? std::optional{number} : std::nullopt;
}

std::optional<int> number_in(const ReadVariable& read, const char* name) {
  const auto text = name == nullptr ? std::nullopt : read(name);
  return text ? number_of(*text) : std::nullopt;
}

/// Most tasks on any node, from Slurm's list of all nodes: `4(x2),3` is 4, 4, 3.
std::optional<int> slurm_local_size(const ReadVariable& read) {
  const std::string list = read("SLURM_STEP_TASKS_PER_NODE").value_or("");
  std::optional<int> most;
  for (std::size_t begin = 0; begin < list.size();) {
    const auto end = std::min(list.find(',', begin), list.size());
    const auto node = std::string_view{list}.substr(begin, end - begin);
    const auto tasks = number_of(node.substr(0, node.find("(x")));
    if (!tasks) {
      return std::nullopt;
    }
    most = std::max(most, tasks);
    begin = end + 1;
  }
  return most;
}

} // namespace

std::optional<MpiRank> find_mpi_rank(const ReadVariable& read) {
  for (const auto& launcher : launchers) {
    const auto local_rank = number_in(read, launcher.local_rank);
    if (!local_rank) {
      continue;
    }
    const bool slurm = &launcher == &launchers.back();
    const auto local_size = slurm ? slurm_local_size(read) : number_in(read, launcher.local_size);
    const auto world_size = number_in(read, launcher.world_size);
    if (std::max(local_size.value_or(1), world_size.value_or(1)) < 2) {
      if (slurm || world_size || local_size) {
        return std::nullopt;
      }
      continue;
    }
    const int ranks = local_size.value_or(world_size.value_or(1));
    return MpiRank{*local_rank, std::max(ranks, *local_rank + 1),
                   std::string{launcher.local_rank} + "=" + std::to_string(*local_rank)};
  }
  return std::nullopt;
}

std::string mpi_variable(const ReadVariable& read) {
  const auto* const launcher = std::find_if(launchers.begin(), launchers.end(),
                                            [&](const Launcher& one) { return !read(one.rank).value_or("").empty(); });
  return launcher == launchers.end() ? "" : launcher->rank;
}

int ranks_on_a_device(const MpiRank& rank, std::size_t devices) {
  const int count = static_cast<int>(devices);
  return (rank.local_size + count - 1) / count;
}

Bytes share_of(Bytes lease, Bytes context, int ranks) {
  for (int other = 1; other < ranks; ++other) {
    lease = lease - context;
  }
  return Bytes{lease.count() / static_cast<std::uint64_t>(ranks)};
}

Bytes lease_of_ranks(Bytes each, Bytes context, int ranks) {
  Bytes lease = each;
  for (int other = 1; other < ranks; ++other) {
    lease += each + context;
  }
  return lease;
}

} // namespace gputest::policy
