// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/bytes.hpp>
#include <gputest/settings.hpp>

#include <functional>
#include <optional>
#include <string>

namespace gputest::policy {

/// Reads the value of an environment variable, nullopt if it is not set.
using ReadVariable = std::function<std::optional<std::string>(const char* name)>;

/// Reads what Open MPI, Hydra (MPICH, Intel MPI), MVAPICH2, PALS, Flux and Slurm set for each rank; the nearest
/// launcher takes precedence over a batch system around it. nullopt for what is no rank, or alone in its world. Pure.
[[nodiscard]] std::optional<MpiRank> find_mpi_rank(const ReadVariable& read);

/// The variable by which a launcher of MPI programs has told this process its rank, also if it is alone in its world;
/// empty if none has. Pure.
[[nodiscard]] std::string mpi_variable(const ReadVariable& read);

/// Most ranks on any of so many devices, as they are dealt out: local rank modulo the number of devices.
[[nodiscard]] int ranks_on_a_device(const MpiRank& rank, std::size_t devices);

/// What each of `ranks` may lease of a device on which a launcher leases `lease` for all of them, and has counted one
/// context: the others' contexts have to fit into the lease as well.
[[nodiscard]] Bytes share_of(Bytes lease, Bytes context, int ranks);

/// The lease of which share_of() is `each`.
[[nodiscard]] Bytes lease_of_ranks(Bytes each, Bytes context, int ranks);

} // namespace gputest::policy
