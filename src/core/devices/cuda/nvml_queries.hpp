// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/cuda/nvml.hpp"
#include "core/devices/cuda/nvml_api.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gputest::devices::nvml {

/// One device's memory, whichever of NVML's two queries answers.
struct MemoryFigures {
  std::uint64_t total_bytes = 0;
  std::uint64_t reserved_bytes = 0; ///< 0 if only the older query answers
  std::uint64_t used_bytes = 0;     ///< from the older query: what the driver reserves included
};

/// Reads a device's memory; anything but `success` leaves `figures` alone.
[[nodiscard]] Result read_memory(const Functions& functions, Handle device, MemoryFigures& figures);

/// The processes on a device, each once; nullopt if the compute processes cannot be listed.
[[nodiscard]] std::optional<std::vector<NvmlProcess>> list_processes(const Functions& functions, Handle device);

/// A GPU's compute capability, 90 for 9.0; nullopt if NVML does not say.
[[nodiscard]] std::optional<unsigned> read_compute_capability(const Functions& functions, Handle gpu);

/// How Windows drives a GPU; `none` if NVML does not say, as under Linux.
[[nodiscard]] policy::DriverModel read_driver_model(const Functions& functions, Handle gpu);

/// How many processes a GPU accepts; `usual` if NVML does not say.
[[nodiscard]] policy::ComputeMode read_compute_mode(const Functions& functions, Handle gpu);

/// Fills a text of NVML's (a UUID, a name).
[[nodiscard]] Result read_text(Result (*query)(Handle, char*, unsigned), Handle device, std::string& text);

} // namespace gputest::devices::nvml
