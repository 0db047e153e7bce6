// SPDX-License-Identifier: BSD-3-Clause
// What src/metering/ provides. This module calls it, and knows no more of it.
#pragma once

#include "core/devices/meter.hpp"

#include <gputest/bytes.hpp>
#include <gputest/settings.hpp>

#include <cstdint>

namespace gputest::devices {

/// What measures the memory that this process allocates of its GPUs, always the same one for one setting: by CUPTI,
/// else by samples. Call it first before the process's first CUDA call, after its devices were chosen. Never destroyed:
/// memory may be freed by a global variable's destructor. Thread-safe.
[[nodiscard]] Meter& cuda_meter(MeterSetting setting);

/// The same for simulated devices; a context and a device heap are in no figure. With MeterSetting::sampled it says
/// what samples would: a lower bound without kinds.
[[nodiscard]] Meter& simulated_meter(MeterSetting setting);

/// What simulated_meter() is told. `id` is the allocation's identity in this process, `function` a constant.
/// Thread-safe.
void note_simulated_allocation(std::uint64_t id, AllocationKind kind, int device, const char* function, Bytes bytes);
void note_simulated_free(std::uint64_t id);
void note_simulated_refusal(int device, Bytes bytes);

} // namespace gputest::devices
